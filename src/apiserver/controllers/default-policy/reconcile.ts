import { isDeepStrictEqual } from 'node:util';
import type { ApiObject, ClusterRole, ClusterRoleBinding } from '../../../api/index.ts';
import { findMissingRules } from '../../authz/index.ts';
import { autoUpdateAnnotation } from './policy.ts';

/*
 * What a default role or binding is made into at the next start: it gets back what it lacks of rules, subjects, labels
 * and annotations, and keeps whatever somebody has added. Undefined where nothing is missing, or nobody may touch it.
 */

export function reconciledRole(stored: ClusterRole, wanted: ClusterRole): ClusterRole | undefined {
  const metadata = reconciledMetadata(stored, wanted);
  if (metadata === undefined) return undefined;
  const next = { ...stored, metadata };
  if (wanted.aggregationRule !== undefined) {
    const selectors = stored.aggregationRule?.clusterRoleSelectors ?? [];
    const missing = (wanted.aggregationRule.clusterRoleSelectors ?? []).filter(
      (selector) => !selectors.some((each) => isDeepStrictEqual(each, selector)),
    );
    next.aggregationRule = { clusterRoleSelectors: [...selectors, ...missing] };
  } else {
    const missing = (wanted.rules ?? []).filter(
      (rule) => findMissingRules(stored.rules ?? [], [rule]).length > 0,
    );
    next.rules = [...(stored.rules ?? []), ...missing];
  }
  return changed(stored, next);
}

/**
 * A binding that refers to another role cannot be changed back: `anew` says that it must be made again. Then it keeps none
 * of its subjects: they were given another role, perhaps by somebody who might not give them this one.
 */
export function reconciledBinding(
  stored: ClusterRoleBinding,
  wanted: ClusterRoleBinding,
): { next: ClusterRoleBinding; anew: boolean } | undefined {
  const metadata = reconciledMetadata(stored, wanted);
  if (metadata === undefined) return undefined;
  const { roleRef } = wanted;
  const subjects = stored.subjects ?? [];
  const missing = (wanted.subjects ?? []).filter(
    ({ kind, name }) => !subjects.some((each) => each.kind === kind && each.name === name),
  );
  if (stored.roleRef.kind !== roleRef.kind || stored.roleRef.name !== roleRef.name) {
    return { next: wanted, anew: true };
  }
  const all = [...subjects, ...missing];
  const next = changed(stored, { ...stored, metadata, ...(all.length === 0 ? {} : { subjects: all }) });
  return next && { next, anew: false };
}

function reconciledMetadata(stored: ApiObject, wanted: ApiObject): ApiObject['metadata'] {
  const { metadata = {} } = stored;
  if (metadata.annotations?.[autoUpdateAnnotation] === 'false') return undefined;
  return {
    ...metadata,
    labels: { ...metadata.labels, ...wanted.metadata?.labels },
    annotations: { ...wanted.metadata?.annotations, ...metadata.annotations },
  };
}

function changed<T extends ApiObject>(stored: T, next: T): T | undefined {
  return isDeepStrictEqual(stored, next) ? undefined : next;
}
