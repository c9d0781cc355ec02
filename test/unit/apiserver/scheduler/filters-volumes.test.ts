/** What the filters say of the volumes of pods, by the documented semantics of the reference. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type {
  CSINode,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from '../../../../src/api/index.ts';
import type { NodeWords, PodWords } from './cluster.ts';
import { fits, judge } from './judge.ts';

/** A claim: its class, whether it is bound and to which volume. */
const claim = (
  name: string,
  words: { volume?: string; class?: string; mode?: string; selected?: string; phase?: string } = {},
): PersistentVolumeClaim => ({
  metadata: {
    ...{ name, namespace: 'ns', uid: `uid-${name}` },
    annotations: {
      ...(words.volume === undefined ? {} : { 'pv.kubernetes.io/bind-completed': 'yes' }),
      ...(words.selected === undefined ? {} : { 'volume.kubernetes.io/selected-node': words.selected }),
    },
  },
  spec: {
    accessModes: [words.mode ?? 'ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    storageClassName: words.class ?? 'waits',
    ...(words.volume === undefined ? {} : { volumeName: words.volume }),
  },
  status: { phase: words.phase ?? 'Bound' },
});

const volume = (
  name: string,
  words: { node?: string; size?: string; labels?: Record<string, string>; csi?: string; for?: string } = {},
): PersistentVolume => ({
  metadata: { name, labels: { ...words.labels } },
  spec: {
    accessModes: ['ReadWriteOnce', 'ReadWriteOncePod'],
    capacity: { storage: words.size ?? '1Gi' },
    storageClassName: 'waits',
    ...(words.csi === undefined ? {} : { csi: { driver: words.csi, volumeHandle: name } }),
    ...(words.for === undefined ? {} : { claimRef: { name: words.for, namespace: 'ns' } }),
    ...(words.node === undefined
      ? {}
      : {
          nodeAffinity: {
            required: {
              nodeSelectorTerms: [
                { matchExpressions: [{ key: 'host', operator: 'In', values: [words.node] }] },
              ],
            },
          },
        }),
  },
  status: { phase: words.for === undefined ? 'Available' : 'Bound' },
});

const classes: readonly StorageClass[] = [
  {
    metadata: { name: 'waits' },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
  },
  { metadata: { name: 'made' }, provisioner: 'csi.example.com', volumeBindingMode: 'WaitForFirstConsumer' },
  {
    metadata: { name: 'made-in-a' },
    provisioner: 'csi.example.com',
    volumeBindingMode: 'WaitForFirstConsumer',
    allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['a'] }] }],
  },
  { metadata: { name: 'at-once' }, provisioner: 'csi.example.com', volumeBindingMode: 'Immediate' },
];

const zone = 'topology.kubernetes.io/zone';
const nodes: Record<string, NodeWords> = {
  a: { labels: { host: 'a', zone: 'a', [zone]: 'a' } },
  b: { labels: { host: 'b', zone: 'b', [zone]: 'b' } },
};
const using = (...names: string[]): PodWords => ({
  spec: { volumes: names.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) },
});

interface Stored {
  readonly claims?: readonly PersistentVolumeClaim[];
  readonly volumes?: readonly PersistentVolume[];
  readonly limit?: number;
  readonly pods?: readonly PodWords[];
  /** The volume that is chosen for a claim of a pod that is being bound. */
  readonly chosen?: readonly [volume: string, claim: string];
}

function judgeVolumes(
  pod: PodWords,
  { claims = [], volumes = [], limit, pods = [], chosen }: Stored,
): string {
  const named = <T extends { metadata?: { name?: string | undefined } | undefined }>(
    all: readonly T[],
    name: string,
  ) => all.find(({ metadata }) => metadata?.name === name);
  const csiNode: CSINode = {
    spec: {
      drivers: [
        { name: 'csi', nodeID: 'n', ...(limit === undefined ? {} : { allocatable: { count: limit } }) },
      ],
    },
  };
  const verdicts = judge(pod, {
    nodes,
    pods,
    volumes: {
      claim: (_namespace, name) => named(claims, name),
      volume: (name) => named(volumes, name),
      volumes: () => volumes,
      storageClass: (name) => named(classes, name),
      csiNode: () => csiNode,
      chosenFor: (name) => (name === chosen?.[0] ? named(claims, chosen[1]) : undefined),
      chosenNode: ({ metadata }) => metadata?.annotations?.['volume.kubernetes.io/selected-node'],
    },
  });
  return typeof verdicts === 'string' ? verdicts : `${verdicts['a']} | ${verdicts['b']}`;
}

describe('volumes', () => {
  const both = `${fits} | ${fits}`;
  const nothing = "node(s) didn't find available persistent volumes to bind (final)";
  const affinity = "node(s) didn't match PersistentVolume's node affinity (final)";
  const otherZone = 'node(s) had no available volume zone (final)';
  const inUse =
    'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode';
  const full = 'node(s) exceed max volume count';
  const rows: readonly [title: string, pod: PodWords, stored: Stored, expected: string][] = [
    ['no claim', {}, {}, both],
    ['a claim that is not there', using('c'), {}, 'persistentvolumeclaim "c" not found'],
    [
      'a claim that is lost',
      using('c'),
      { claims: [claim('c', { volume: 'v', phase: 'Lost' })] },
      'persistentvolumeclaim "c" bound to non-existent persistentvolume "v"',
    ],
    [
      'a claim bound at once that is not bound',
      using('c'),
      { claims: [claim('c', { class: 'at-once' })] },
      'pod has unbound immediate PersistentVolumeClaims',
    ],
    [
      'a claim without a class',
      using('c'),
      { claims: [claim('c', { class: '' })] },
      'pod has unbound immediate PersistentVolumeClaims',
    ],
    ['a bound claim', using('c'), { claims: [claim('c', { volume: 'v' })], volumes: [volume('v')] }, both],
    [
      'a bound claim whose volume is gone',
      using('c'),
      { claims: [claim('c', { volume: 'v' })] },
      Array(2)
        .fill('node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s) (final)')
        .join(' | '),
    ],
    [
      'a bound claim of one node',
      using('c'),
      { claims: [claim('c', { volume: 'v' })], volumes: [volume('v', { node: 'a' })] },
      `${fits} | ${affinity}`,
    ],
    [
      'an open claim, one volume',
      using('c'),
      { claims: [claim('c')], volumes: [volume('v', { node: 'b' })] },
      `${nothing} | ${fits}`,
    ],
    ['an open claim, no volume', using('c'), { claims: [claim('c')] }, `${nothing} | ${nothing}`],
    [
      'an open claim, a volume too small',
      using('c'),
      { claims: [claim('c')], volumes: [volume('v', { size: '1Mi' })] },
      `${nothing} | ${nothing}`,
    ],
    [
      'an open claim, a volume of another claim',
      using('c'),
      { claims: [claim('c')], volumes: [volume('v', { for: 'other' })] },
      `${nothing} | ${nothing}`,
    ],
    [
      'two open claims, one volume',
      using('c', 'd'),
      { claims: [claim('c'), claim('d')], volumes: [volume('v')] },
      `${nothing} | ${nothing}`,
    ],
    [
      'two open claims, two volumes',
      using('c', 'd'),
      { claims: [claim('c'), claim('d')], volumes: [volume('v'), volume('w')] },
      both,
    ],
    [
      'a volume chosen for another claim',
      using('c'),
      { claims: [claim('c'), claim('d')], volumes: [volume('v')], chosen: ['v', 'd'] },
      `${nothing} | ${nothing}`,
    ],
    [
      'a volume chosen for the same claim, of another pod',
      using('c'),
      { claims: [claim('c')], volumes: [volume('v', { node: 'a' })], chosen: ['v', 'c'] },
      `${fits} | ${nothing}`,
    ],
    ['a claim whose volume is made', using('c'), { claims: [claim('c', { class: 'made' })] }, both],
    [
      'a claim whose volume is made in one zone',
      using('c'),
      { claims: [claim('c', { class: 'made-in-a' })] },
      `${fits} | ${nothing}`,
    ],
    [
      'a claim whose volume is being made on a node',
      using('c'),
      { claims: [claim('c', { class: 'made', selected: 'b' })] },
      `${nothing} | ${fits}`,
    ],
    [
      'a volume with a zone',
      using('c'),
      { claims: [claim('c', { volume: 'v' })], volumes: [volume('v', { labels: { [zone]: 'a' } })] },
      `${fits} | ${otherZone}`,
    ],
    [
      'a volume with two zones',
      using('c'),
      { claims: [claim('c', { volume: 'v' })], volumes: [volume('v', { labels: { [zone]: 'a__b' } })] },
      both,
    ],
    [
      'a claim for one pod at a time, free',
      using('c'),
      { claims: [claim('c', { volume: 'v', mode: 'ReadWriteOncePod' })], volumes: [volume('v')] },
      both,
    ],
    [
      'a claim for one pod at a time, in use',
      using('c'),
      {
        claims: [claim('c', { volume: 'v', mode: 'ReadWriteOncePod' })],
        volumes: [volume('v')],
        pods: [{ node: 'a', ...using('c') }],
      },
      `${inUse} | ${inUse}`,
    ],
    [
      'a shared claim in use',
      using('c'),
      { claims: [claim('c', { volume: 'v' })], volumes: [volume('v')], pods: [{ node: 'a', ...using('c') }] },
      both,
    ],
    [
      'a driver without a limit',
      using('c'),
      { claims: [claim('c', { volume: 'v' })], volumes: [volume('v', { csi: 'csi' })] },
      both,
    ],
    [
      'the last volume of a driver',
      using('c'),
      { claims: [claim('c', { volume: 'v' })], volumes: [volume('v', { csi: 'csi' })], limit: 1 },
      both,
    ],
    [
      'one volume too many',
      using('c'),
      {
        claims: [claim('c', { volume: 'v' }), claim('d', { volume: 'w' })],
        volumes: [volume('v', { csi: 'csi' }), volume('w', { csi: 'csi' })],
        limit: 1,
        pods: [{ node: 'a', ...using('d') }],
      },
      `${full} | ${fits}`,
    ],
    [
      'a volume that is attached there already',
      using('c'),
      {
        claims: [claim('c', { volume: 'v' })],
        volumes: [volume('v', { csi: 'csi' })],
        limit: 0,
        pods: [{ node: 'a', ...using('c') }],
      },
      `${fits} | ${full}`,
    ],
  ];
  for (const [title, pod, stored, expected] of rows)
    test(`${title}: ${expected}`, () => assert.equal(judgeVolumes(pod, stored), expected));
});
