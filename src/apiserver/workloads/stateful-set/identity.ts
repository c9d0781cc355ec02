import type { OwnerReference, Pod, PodTemplateSpec, StatefulSet } from '../../../api/index.ts';
import { podFromTemplate } from '../pod-from-template.ts';
import { claimName } from './claims.ts';

/** Labels of the pods of stateful sets. */
export const revisionLabel = 'controller-revision-hash';
const podNameLabel = 'statefulset.kubernetes.io/pod-name';
const podIndexLabel = 'apps.kubernetes.io/pod-index';

export function podName({ metadata }: StatefulSet, ordinal: number): string {
  return `${metadata?.name ?? ''}-${ordinal}`;
}

const maxOrdinal = 2 ** 31 - 1;

/** The number in the name of a pod of the set; undefined for a name that none of its pods has. */
export function ordinalOf({ metadata }: StatefulSet, pod: Pod): number | undefined {
  const prefix = `${metadata?.name ?? ''}-`;
  const name = pod.metadata?.name ?? '';
  const digits = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  const ordinal = /^(0|[1-9]\d*)$/.test(digits) ? Number(digits) : Number.POSITIVE_INFINITY;
  return ordinal <= maxOrdinal ? ordinal : undefined;
}

/** The first number of the pods that the set wants, and the first after them. */
export function ordinalRange({ spec }: StatefulSet): { readonly start: number; readonly end: number } {
  const start = spec?.ordinals?.start ?? 0;
  return { start, end: start + (spec?.replicas ?? 1) };
}

export function revisionOf({ metadata }: Pod): string {
  return metadata?.labels?.[revisionLabel] ?? '';
}

/** The pod with a number, of the template that a revision keeps. */
export function statefulPod(
  set: StatefulSet,
  template: PodTemplateSpec | undefined,
  owner: OwnerReference,
  ordinal: number,
  revision: string,
): Pod {
  const pod = podFromTemplate(template, owner, set.metadata?.namespace ?? '');
  const { generateName: _prefix, ...metadata } = pod.metadata ?? {};
  const name = podName(set, ordinal);
  const { serviceName } = set.spec ?? {};
  return {
    ...pod,
    metadata: {
      ...metadata,
      name,
      labels: { ...identityLabels(metadata.labels, name, ordinal), [revisionLabel]: revision },
    },
    spec: {
      containers: [],
      ...pod.spec,
      hostname: name,
      ...(serviceName ? { subdomain: serviceName } : {}),
      volumes: volumesFor(set, pod, ordinal),
    },
  };
}

type Labels = Readonly<Record<string, string>>;

function identityLabels(labels: Labels | undefined, name: string, ordinal: number): Record<string, string> {
  return { ...labels, [podNameLabel]: name, [podIndexLabel]: String(ordinal) };
}

/** The labels that a pod with this number should have; undefined where it has them. */
export function missingIdentity({ metadata }: Pod, ordinal: number): Record<string, string> | undefined {
  const { name = '', labels } = metadata ?? {};
  const isRight = labels?.[podNameLabel] === name && labels[podIndexLabel] === String(ordinal);
  return isRight ? undefined : identityLabels(labels, name, ordinal);
}

/** A claim of the set takes the place of a volume of the template with the same name. */
function volumesFor(set: StatefulSet, { spec }: Pod, ordinal: number) {
  const templates = set.spec?.volumeClaimTemplates ?? [];
  const names = new Set(templates.map(({ metadata }) => metadata?.name));
  const claims = templates.map(({ metadata }) => ({
    name: metadata?.name ?? '',
    persistentVolumeClaim: { claimName: claimName(set, metadata?.name ?? '', ordinal) },
  }));
  return [...claims, ...(spec?.volumes ?? []).filter(({ name }) => !names.has(name))];
}
