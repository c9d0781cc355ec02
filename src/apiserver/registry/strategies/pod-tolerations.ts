import type { Pod } from '../../../api/index.ts';

/** How long pods stay on a node in trouble that do not say it themselves. */
export interface DefaultTolerations {
  /** Domain prefix of the taints; default `kubernetes.io`. */
  taintDomain?: string | undefined;
  /** On a node that is not ready. */
  notReadySeconds: number;
  /** On a node that is not heard of. */
  unreachableSeconds: number;
}

/** A pod that tolerates these troubles for a time, unless it says already whether and for how long. */
export function withDefaultTolerations(
  pod: Pod,
  { taintDomain = 'kubernetes.io', notReadySeconds, unreachableSeconds }: DefaultTolerations,
): Pod {
  if (pod.spec === undefined) return pod;
  const own = pod.spec.tolerations ?? [];
  const says = (taint: string) =>
    own.some(({ key = '', effect = '' }) => ['', taint].includes(key) && ['', 'NoExecute'].includes(effect));
  const wanted = [
    { key: `node.${taintDomain}/not-ready`, seconds: notReadySeconds },
    { key: `node.${taintDomain}/unreachable`, seconds: unreachableSeconds },
  ];
  const added = wanted
    .filter(({ key }) => !says(key))
    .map(({ key, seconds }) => ({
      ...{ key, operator: 'Exists', effect: 'NoExecute' },
      tolerationSeconds: seconds,
    }));
  if (added.length === 0) return pod;
  return { ...pod, spec: { ...pod.spec, tolerations: [...own, ...added] } };
}
