/** Clusters written down shortly, for tables: nodes and pods as a scheduler sees them. */
import type { Node, Pod } from '../../../../src/api/index.ts';
import type { ClusterLookups } from '../../../../src/apiserver/scheduler/cluster/cluster-state.ts';
import { ClusterState } from '../../../../src/apiserver/scheduler/cluster/cluster-state.ts';
import { readNode } from '../../../../src/apiserver/scheduler/cluster/node-state.ts';
import type { PendingPod } from '../../../../src/apiserver/scheduler/cluster/pod-facts.ts';
import { readPending, readPod } from '../../../../src/apiserver/scheduler/cluster/pod-facts.ts';
import type { VolumeLookup } from '../../../../src/apiserver/scheduler/volumes/lookup.ts';

export type PodSpec = NonNullable<Pod['spec']>;
type Labels = Readonly<Record<string, string>>;

/** Not said: no labels, no taints, 4 cpus, 8Gi, 10 pods. */
export interface NodeWords {
  readonly labels?: Labels;
  /** `KEY=VALUE:EFFECT`. */
  readonly taints?: readonly string[];
  readonly cordoned?: boolean;
  readonly has?: Labels;
  /** Bytes by name. */
  readonly images?: Readonly<Record<string, number>>;
}

/** Not said: without labels in namespace `ns`, one container that requests nothing. */
export interface PodWords {
  readonly namespace?: string;
  readonly labels?: Labels;
  /** Of its one container. */
  readonly wants?: Labels;
  readonly priority?: number;
  readonly node?: string;
  readonly isLeaving?: boolean;
  /** Made of a manifest of its node. */
  readonly isMirror?: boolean;
  readonly startTime?: string;
  readonly spec?: Partial<PodSpec>;
  readonly status?: Pod['status'];
}

export function makeNode(
  name: string,
  { labels = {}, taints = [], cordoned, has, images }: NodeWords = {},
): Node {
  return {
    metadata: { name, labels: { ...labels } },
    spec: { unschedulable: cordoned ?? false, taints: taints.map(readTaint) },
    status: {
      allocatable: { cpu: '4', memory: '8Gi', pods: '10', ...has },
      images: Object.entries(images ?? {}).map(([image, sizeBytes]) => ({ names: [image], sizeBytes })),
    },
  };
}

function readTaint(text: string) {
  const [rest = '', effect = ''] = text.split(':');
  const [key = '', value = ''] = rest.split('=');
  return { key, value, effect };
}

export function makePod(name: string, words: PodWords = {}): Pod {
  const { namespace = 'ns', labels = {}, wants = {}, priority = 0, node, isLeaving, startTime, spec } = words;
  return {
    metadata: {
      ...{ name, namespace, uid: `uid-${name}`, labels: { ...labels } },
      ...(words.isMirror === true ? { annotations: { 'kubernetes.io/config.mirror': 'hash' } } : {}),
      ...(isLeaving === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: {
      containers: [{ name: 'main', image: 'app:1', resources: { requests: { ...wants } } }],
      priority,
      schedulerName: 'default-scheduler',
      ...(node === undefined ? {} : { nodeName: node }),
      ...spec,
    },
    status: { ...(startTime === undefined ? {} : { startTime }), ...words.status },
  };
}

const noVolumes: VolumeLookup = {
  claim: () => undefined,
  volume: () => undefined,
  volumes: () => [],
  storageClass: () => undefined,
  csiNode: () => undefined,
  chosenFor: () => undefined,
  chosenNode: () => undefined,
};

export interface LookupWords {
  readonly namespaces?: Readonly<Record<string, Labels>>;
  readonly volumes?: Partial<VolumeLookup>;
  /** Of a Service that selects the pod. */
  readonly service?: Labels;
}

export function makeLookups({ namespaces = {}, volumes = {}, service }: LookupWords = {}): ClusterLookups {
  return {
    unschedulableTaint: 'node.kubernetes.io/unschedulable',
    namespaceLabels: (name) => namespaces[name] ?? {},
    volumes: { ...noVolumes, ...volumes },
    selectorsOf: () =>
      service === undefined
        ? []
        : [(labels) => Object.entries(service).every(([key, value]) => labels[key] === value)],
  };
}

export interface ClusterWords extends LookupWords {
  readonly nodes: Readonly<Record<string, NodeWords>>;
  /** On their nodes. */
  readonly pods?: readonly PodWords[];
}

export function makeCluster({ nodes, pods = [], ...lookups }: ClusterWords): ClusterState {
  const cluster = new ClusterState(makeLookups(lookups));
  for (const [name, words] of Object.entries(nodes)) cluster.setNode(readNode(makeNode(name, words)));
  for (const [index, words] of pods.entries()) {
    if (words.node !== undefined) cluster.place(readPod(makePod(`other${index}`, words)), words.node);
  }
  return cluster;
}

export const pending = (words: PodWords): PendingPod => readPending(makePod('new', words));

/** Nodes a1, a2 in zone a and b1, b2 in zone b. */
const place = (zone: string, host: string): NodeWords & { readonly labels: Labels } => ({
  labels: { zone, host },
});
export const fourNodes = {
  a1: place('a', 'a1'),
  a2: place('a', 'a2'),
  b1: place('b', 'b1'),
  b2: place('b', 'b2'),
};

export const app = { app: 'web' };

/** `a1 a1 b2`: pods labelled `app` on these nodes. */
export const webOn = (nodes: string): PodWords[] =>
  nodes
    .split(' ')
    .filter(Boolean)
    .map((node) => ({ node, labels: app }));
