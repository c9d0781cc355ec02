import { isDeepStrictEqual } from 'node:util';
import type { ApiObject, ClusterRole, ClusterRoleBinding } from '../../../api/index.ts';
import { findMissingRules } from '../../authz/index.ts';
import { autoUpdateAnnotation } from './policy.ts';

/*
 * What a default role or binding becomes at the next start: missing rules, subjects, labels and annotations come back,
 * and everything that was added stays. Undefined when nothing is missing, or when it is not to be updated.
 */

export function reconcileRole<T extends ClusterRole>(stored: T, wanted: T): T | undefined {
  const metadata = reconcileMetadata(stored, wanted);
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
  return ifChanged(stored, next);
}

/**
 * The role of a binding cannot be changed: one that refers to another role must be deleted and created again
 * (`mustRecreate`). It then keeps none of its subjects: they were granted another role, perhaps by a user who may not
 * grant this one.
 */
export function reconcileBinding<T extends ClusterRoleBinding>(
  stored: T,
  wanted: T,
): { next: T; mustRecreate: boolean } | undefined {
  const metadata = reconcileMetadata(stored, wanted);
  if (metadata === undefined) return undefined;
  const { roleRef } = wanted;
  const subjects = stored.subjects ?? [];
  const missing = (wanted.subjects ?? []).filter(
    ({ kind, name }) => !subjects.some((each) => each.kind === kind && each.name === name),
  );
  if (stored.roleRef.kind !== roleRef.kind || stored.roleRef.name !== roleRef.name) {
    return { next: wanted, mustRecreate: true };
  }
  const all = [...subjects, ...missing];
  const next = ifChanged(stored, { ...stored, metadata, ...(all.length === 0 ? {} : { subjects: all }) });
  return next && { next, mustRecreate: false };
}

function reconcileMetadata(stored: ApiObject, wanted: ApiObject): ApiObject['metadata'] {
  const { metadata = {} } = stored;
  if (metadata.annotations?.[autoUpdateAnnotation] === 'false') return undefined;
  return {
    ...metadata,
    labels: { ...metadata.labels, ...wanted.metadata?.labels },
    annotations: { ...wanted.metadata?.annotations, ...metadata.annotations },
  };
}

function ifChanged<T extends ApiObject>(stored: T, next: T): T | undefined {
  return isDeepStrictEqual(stored, next) ? undefined : next;
}
