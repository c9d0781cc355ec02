import type { OwnerReference, Pod, PodTemplateSpec, Toleration } from '../../../api/index.ts';
import { podFromTemplate } from '../pod-from-template.ts';

/** The label with which pods name their revision. */
export const revisionLabel = 'controller-revision-hash';

const generationAnnotation = 'deprecated.daemonset.template.generation';
const generationLabel = 'pod-template-generation';

const nodeNameField = 'metadata.name';

/**
 * The pods of daemons stay on nodes that are in trouble: they are what helps a node out of it. `taintDomain`: domain prefix of the
 * taints that nodes get, such as `kubernetes.io`.
 */
export function daemonTolerations(isOnHostNetwork: boolean, taintDomain: string): readonly Toleration[] {
  const tolerate = (name: string, effect: string): Toleration => ({
    ...{ key: `node.${taintDomain}/${name}`, operator: 'Exists', effect },
  });
  return [
    tolerate('not-ready', 'NoExecute'),
    tolerate('unreachable', 'NoExecute'),
    tolerate('disk-pressure', 'NoSchedule'),
    tolerate('memory-pressure', 'NoSchedule'),
    tolerate('pid-pressure', 'NoSchedule'),
    tolerate('unschedulable', 'NoSchedule'),
    ...(isOnHostNetwork ? [tolerate('network-unavailable', 'NoSchedule')] : []),
  ];
}

/** The pod that a daemon set makes for its nodes, before it is meant for one of them. */
export function daemonPod(
  template: PodTemplateSpec | undefined,
  owner: OwnerReference,
  namespace: string,
  taintDomain: string,
): Pod {
  const pod = podFromTemplate(template, owner, namespace);
  const added = daemonTolerations(pod.spec?.hostNetwork === true, taintDomain);
  const own = (pod.spec?.tolerations ?? []).filter(
    (each) => !added.some((other) => isSameToleration(each, other)),
  );
  return { ...pod, spec: { containers: [], ...pod.spec, tolerations: [...own, ...added] } };
}

function isSameToleration(one: Toleration, other: Toleration): boolean {
  return (['key', 'effect', 'operator', 'value'] as const).every(
    (name) => (one[name] ?? '') === (other[name] ?? ''),
  );
}

/**
 * The pod for one node. The scheduler binds it: node affinity leaves it no other node, and stands for what the template asked
 * for, which the node has met.
 */
export function podForNode(
  pod: Pod,
  node: string,
  hash: string,
  annotations: Readonly<Record<string, string>> = {},
): Pod {
  const generation = annotations[generationAnnotation];
  const labels = {
    ...pod.metadata?.labels,
    ...(generation === undefined ? {} : { [generationLabel]: generation }),
    [revisionLabel]: hash,
  };
  const affinity = pod.spec?.affinity;
  const term = { matchFields: [{ key: nodeNameField, operator: 'In', values: [node] }] };
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } };
  return {
    ...pod,
    metadata: { ...pod.metadata, labels },
    spec: {
      containers: [],
      ...pod.spec,
      affinity: { ...affinity, nodeAffinity: { ...affinity?.nodeAffinity, ...required } },
    },
  };
}

/** The node that a daemon's pod is on or meant for; undefined: no single one. */
export function nodeOf({ spec }: Pod): string | undefined {
  if (spec?.nodeName) return spec.nodeName;
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  for (const { matchFields = [] } of required?.nodeSelectorTerms ?? [])
    for (const { key, operator, values = [] } of matchFields)
      if (key === nodeNameField && operator === 'In' && values.length === 1) return values[0];
  return undefined;
}
