import type {
  Admission,
  AdmissionInput,
  AdmittingNode,
  Neighbour,
} from '../../../../../src/agent/pods/admission/index.ts';
import { admitPod } from '../../../../../src/agent/pods/admission/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';

type Spec = NonNullable<Pod['spec']>;
export type Container = Spec['containers'][number];
type Metadata = NonNullable<Pod['metadata']>;

export function podOf(spec: Partial<Spec> = {}, metadata: Metadata = {}): Pod {
  return {
    metadata: { name: 'web', namespace: 'default', uid: 'u1', ...metadata },
    spec: { containers: [{ name: 'main', image: 'app:1' }], ...spec },
  };
}

export function container(requests: Record<string, string>, more: Partial<Container> = {}): Container {
  return { name: 'main', image: 'app:1', resources: { requests }, ...more };
}

/** A pod of one container. */
export function requesting(requests: Record<string, string>, spec: Partial<Spec> = {}): Pod {
  return podOf({ containers: [container(requests)], ...spec });
}

export function neighbour(
  name: string,
  requests: Record<string, string>,
  spec: Partial<Spec> = {},
): Neighbour {
  const pod = requesting(requests, spec);
  return { pod: { ...pod, metadata: { name, namespace: 'default', uid: name } }, origin: 'api' };
}

export const node: AdmittingNode = {
  name: 'n1',
  labels: { 'kubernetes.io/hostname': 'n1', zone: 'a', cores: '8', temperature: '-5', disk: 'ssd' },
  taints: [],
  allocatable: { cpu: '2', memory: '1Gi', 'ephemeral-storage': '10Gi', pods: '4', 'example.com/gpu': '2' },
  pressures: [],
  isShuttingDown: false,
};

export type Change = Partial<Omit<AdmissionInput, 'pod' | 'node'>> & { node?: Partial<AdmittingNode> };

export function inputOf(pod: Pod, { node: changed, ...change }: Change = {}): AdmissionInput {
  return {
    pod,
    origin: 'api',
    others: [],
    node: { ...node, ...changed },
    features: {
      supplementalGroupsPolicy: true,
      runtimeHandlers: [
        { name: '', userNamespaces: false },
        { name: 'runc', userNamespaces: true },
      ],
      appArmor: { enabled: false },
    },
    settings: { unsafeSysctls: [] },
    ...change,
  };
}

export const admit = (pod: Pod, change?: Change): Admission => admitPod(inputOf(pod, change));

/** `ok`, or the reason and the message. */
export function summaryOf(admission: Admission): string {
  return admission.admitted ? 'ok' : `${admission.reason}: ${admission.message}`;
}
