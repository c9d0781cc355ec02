/** What DaemonSets decide, by tables: which nodes fit, and what each node needs. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod, Taint, Toleration } from '../../../../src/api/index.ts';
import { daemonPod, nodeOf, podForNode } from '../../../../src/apiserver/workloads/daemon-set/daemon-pod.ts';
import { FailureBackoff } from '../../../../src/apiserver/workloads/daemon-set/failure-backoff.ts';
import type { DaemonView } from '../../../../src/apiserver/workloads/daemon-set/manage.ts';
import { manageNodes } from '../../../../src/apiserver/workloads/daemon-set/manage.ts';
import type { Fit } from '../../../../src/apiserver/workloads/daemon-set/node-fit.ts';
import { fitOf } from '../../../../src/apiserver/workloads/daemon-set/node-fit.ts';
import { updatePods } from '../../../../src/apiserver/workloads/daemon-set/rolling-update.ts';
import { countDaemons } from '../../../../src/apiserver/workloads/daemon-set/status.ts';

type PodSpec = NonNullable<Pod['spec']>;

const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'u', controller: true };
const containers = [{ name: 'main', image: 'one' }];
const made = (spec: Partial<PodSpec> = {}) =>
  daemonPod(
    { metadata: { labels: { app: 'a' } }, spec: { containers, ...spec } },
    owner,
    'ns',
    'kubernetes.io',
  );

const taint = (key: string, effect: string): Taint => ({ key, effect });
const own = (name: string, effect: string) => taint(`node.kubernetes.io/${name}`, effect);
const affinity = (key: string, values: string[]): Partial<PodSpec> => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values }] }],
      },
    },
  },
});

describe('a node', () => {
  const cases: readonly [why: string, spec: Partial<PodSpec>, taints: readonly Taint[], fit: Fit][] = [
    ['without anything', {}, [], 'run'],
    ['with the label that is asked for', { nodeSelector: { zone: 'z' } }, [], 'run'],
    ['with another label', { nodeSelector: { zone: 'y' } }, [], 'leave'],
    ['that affinity names', affinity('zone', ['x', 'z']), [], 'run'],
    ['that affinity leaves out', affinity('zone', ['x']), [], 'leave'],
    ['of the name that is asked for', { nodeName: 'n' }, [], 'run'],
    ['of another name', { nodeName: 'm' }, [], 'leave'],
    ['that is not ready', {}, [own('not-ready', 'NoExecute')], 'run'],
    ['that is not ready and takes no pods', {}, [own('not-ready', 'NoSchedule')], 'stay'],
    ['that is unreachable', {}, [own('unreachable', 'NoExecute')], 'run'],
    ['short of disk', {}, [own('disk-pressure', 'NoSchedule')], 'run'],
    ['short of memory', {}, [own('memory-pressure', 'NoSchedule')], 'run'],
    ['short of processes', {}, [own('pid-pressure', 'NoSchedule')], 'run'],
    ['that is cordoned', {}, [own('unschedulable', 'NoSchedule')], 'run'],
    ['without a network', {}, [own('network-unavailable', 'NoSchedule')], 'stay'],
    [
      'without a network, for its host’s',
      { hostNetwork: true },
      [own('network-unavailable', 'NoSchedule')],
      'run',
    ],
    ['that keeps pods away', {}, [taint('k', 'NoSchedule')], 'stay'],
    ['that would rather have none', {}, [taint('k', 'PreferNoSchedule')], 'run'],
    ['that throws pods out', {}, [taint('k', 'NoExecute')], 'leave'],
    [
      'that throws pods out and keeps others away',
      {},
      [taint('j', 'NoSchedule'), taint('k', 'NoExecute')],
      'leave',
    ],
    [
      'that is tolerated',
      { tolerations: [{ key: 'k', operator: 'Exists' }] },
      [taint('k', 'NoExecute')],
      'run',
    ],
    [
      'with everything tolerated',
      { tolerations: [{ operator: 'Exists' }] },
      [taint('k', 'NoSchedule')],
      'run',
    ],
  ];
  for (const [why, spec, taints, fit] of cases)
    test(`${why}: ${fit}`, () => {
      assert.equal(fitOf(made(spec), { name: 'n', labels: { zone: 'z' }, taints }), fit);
    });
});

describe('the pod of a node', () => {
  test('has one toleration for each trouble, without an end, and keeps its own', () => {
    const short: Toleration = {
      key: 'node.kubernetes.io/not-ready',
      operator: 'Exists',
      effect: 'NoExecute',
    };
    const kept: Toleration = { key: 'k', operator: 'Exists' };
    const { tolerations = [] } = made({ tolerations: [{ ...short, tolerationSeconds: 5 }, kept] }).spec ?? {};
    assert.equal(tolerations.length, 7);
    assert.deepEqual(
      tolerations.filter(({ key }) => key === short.key),
      [short],
    );
    assert.deepEqual(tolerations[0], kept);
  });

  test('can be bound to that node only, and is known by it before', () => {
    const { spec } = podForNode(made(affinity('zone', ['z'])), 'n', 'hash');
    const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    const matchFields = [{ key: 'metadata.name', operator: 'In', values: ['n'] }];
    assert.deepEqual(required, { nodeSelectorTerms: [{ matchFields }] });
    assert.equal(nodeOf({ spec: spec ?? { containers: [] } }), 'n');
  });
});

interface Told {
  node: string;
  hash?: string;
  phase?: string;
  ready?: boolean;
  going?: boolean;
  bound?: boolean;
  age?: number;
}

const nowMs = Date.parse('2025-01-01T01:00:00Z');

function pod({
  node,
  hash = 'new',
  phase = 'Running',
  ready = true,
  going = false,
  bound = true,
  age = 1,
}: Told): Pod {
  const { metadata, spec } = podForNode(made(), node, hash);
  const at = (ms: number) => new Date(ms).toISOString();
  return {
    metadata: {
      ...metadata,
      ...{ name: `${node}-${hash}-${age}`, creationTimestamp: at(nowMs - age * 1000) },
      ...(going ? { deletionTimestamp: at(nowMs) } : {}),
    },
    spec: { containers, ...spec, ...(bound ? { nodeName: node } : {}) },
    status: {
      phase,
      conditions: [
        { type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: at(nowMs - 10_000) },
      ],
    },
  };
}

function view(fits: Record<string, Fit>, told: readonly Told[], more: Partial<DaemonView> = {}): DaemonView {
  const pods = new Map<string, Pod[]>();
  for (const each of told) pods.set(each.node, [...(pods.get(each.node) ?? []), pod(each)]);
  return {
    ...{ hash: 'new', fits: new Map(Object.entries(fits)), pods, minReadySeconds: 0, nowMs },
    ...{ maxUnavailable: 1, maxSurge: 0, backoffMs: () => 0 },
    ...more,
  };
}

const names = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata?.name).join(' ');
const surge = { maxSurge: 1, maxUnavailable: 0 };
const old = { hash: 'old' };

describe('what a node needs', () => {
  const cases: readonly [why: string, view: DaemonView, create: string, remove: string][] = [
    ['nothing where there is one', view({ n: 'run' }, [{ node: 'n' }]), '', ''],
    ['one where there is none', view({ n: 'run', m: 'stay', l: 'leave' }, []), 'n', ''],
    ['nothing while the last one goes', view({ n: 'run' }, [{ node: 'n', going: true }]), '', ''],
    [
      'one beside the last one that goes, with maxSurge',
      view({ n: 'run' }, [{ node: 'n', going: true }], surge),
      'n',
      '',
    ],
    ['none where it does not fit', view({ n: 'leave' }, [{ node: 'n' }]), '', 'n-new-1'],
    ['what it has where it may stay', view({ n: 'stay' }, [{ node: 'n' }]), '', ''],
    [
      'the oldest of two',
      view({ n: 'run' }, [
        { node: 'n', age: 1 },
        { node: 'n', age: 2 },
      ]),
      '',
      'n-new-1',
    ],
    [
      'the one that works of two, though it is younger',
      view({ n: 'run' }, [
        { node: 'n', age: 1 },
        { node: 'n', age: 2, ready: false },
      ]),
      '',
      'n-new-2',
    ],
    [
      'the bound one of two',
      view({ n: 'run' }, [{ node: 'n' }, { node: 'n', age: 2, bound: false }]),
      '',
      'n-new-2',
    ],
    [
      'both revisions while the new one starts, with maxSurge',
      view(
        { n: 'run' },
        [
          { node: 'n', ready: false },
          { node: 'n', ...old },
        ],
        surge,
      ),
      '',
      '',
    ],
    [
      'the new one that works, with maxSurge',
      view({ n: 'run' }, [{ node: 'n' }, { node: 'n', ...old }], surge),
      '',
      'n-old-1',
    ],
    [
      'the new one where the old one does not work, with maxSurge',
      view(
        { n: 'run' },
        [
          { node: 'n', ready: false },
          { node: 'n', ...old, ready: false },
        ],
        surge,
      ),
      '',
      'n-old-1',
    ],
    [
      'one of each revision, with maxSurge',
      view(
        { n: 'run' },
        [
          { node: 'n', ready: false },
          { node: 'n', age: 2 },
          { node: 'n', ...old },
        ],
        { ...surge, minReadySeconds: 60 },
      ),
      '',
      'n-new-1',
    ],
  ];
  for (const [why, given, create, remove] of cases)
    test(why, () => {
      const changes = manageNodes(given);
      assert.equal(changes.create.join(' '), create);
      assert.equal(names(changes.remove), remove);
      assert.deepEqual([changes.ended, changes.homeless], [[], []]);
    });

  test('is another one for one that has ended: at once when it succeeded, after a wait when it failed', () => {
    const told = [
      { node: 'n', phase: 'Failed' },
      { node: 'm', phase: 'Succeeded' },
    ];
    const changes = manageNodes(view({ n: 'run', m: 'run' }, told, { backoffMs: () => 500 }));
    assert.deepEqual(
      changes.ended.map(({ node }) => node),
      ['m'],
    );
    assert.equal(changes.waitMs, 500);
    assert.deepEqual(changes.create, []);
  });

  test('is nothing where the node is not there: a pod that nobody has bound goes', () => {
    const changes = manageNodes(view({}, [{ node: 'x', bound: false }, { node: 'y' }]));
    assert.equal(names(changes.homeless), 'x-new-1');
  });
});

describe('an update of daemons', () => {
  const fits: Record<string, Fit> = { a: 'run', b: 'run', c: 'run', d: 'stay' };
  const three = (...changes: readonly Partial<Told>[]): Told[] =>
    ['a', 'b', 'c'].map((node, index) => ({ node, ...old, ...changes[index] }));
  const cases: readonly [why: string, view: DaemonView, create: string, remove: string][] = [
    ['replaces one', view(fits, three()), '', 'a-old-1'],
    ['replaces as many as may be missing', view(fits, three(), { maxUnavailable: 2 }), '', 'a-old-1 b-old-1'],
    ['waits for one that goes', view(fits, three({ going: true })), '', ''],
    ['waits for one that is not there', view(fits, three().slice(1)), '', ''],
    ['waits for a new one that does not work', view(fits, three({ hash: 'new', ready: false })), '', ''],
    [
      'takes pods that have not been ready for minReadySeconds for broken ones',
      view(fits, three({ hash: 'new' }), { minReadySeconds: 11 }),
      '',
      'b-old-1 c-old-1',
    ],
    ['replaces what does not work first', view(fits, three({}, { ready: false })), '', 'b-old-1'],
    [
      'reaches pods that only stay',
      view(fits, [...three(...[1, 2, 3].map(() => ({ hash: 'new' }))), { node: 'd', ...old }]),
      '',
      'd-old-1',
    ],
    ['is over', view(fits, three(...[1, 2, 3].map(() => ({ hash: 'new' })))), '', ''],
    ['puts a new one beside', view(fits, three(), surge), 'a', ''],
    ['puts as many as maxSurge says', view(fits, three(), { ...surge, maxSurge: 2 }), 'a b', ''],
    [
      'puts one beside each that does not work',
      view(fits, three({ ready: false }, { ready: false }), surge),
      'a b c',
      '',
    ],
    ['waits for the new one', view(fits, [...three(), { node: 'a', ready: false }], surge), '', ''],
    ['removes the old one, and goes on', view(fits, [...three(), { node: 'a' }], surge), 'b', 'a-old-1'],
    [
      'keeps a working one where no new one comes',
      view(fits, [...three(), { node: 'd', ...old, ready: false }], surge),
      'a',
      'd-old-1',
    ],
  ];
  for (const [why, given, create, remove] of cases)
    test(why, () => {
      const changes = updatePods(given);
      assert.equal(changes.create.join(' '), create);
      assert.equal(names(changes.remove), remove);
    });
});

test('the status counts the oldest pod of each node that should have one', () => {
  const told = [
    { node: 'a' },
    { node: 'b', ...old, age: 9 },
    { node: 'b', ready: false },
    { node: 'c', ready: false },
    { node: 'd' },
  ];
  assert.deepEqual(
    countDaemons(view({ a: 'run', b: 'run', c: 'run', d: 'stay', e: 'run' }, told, { minReadySeconds: 5 })),
    {
      ...{ desiredNumberScheduled: 4, currentNumberScheduled: 3, numberMisscheduled: 1, numberReady: 2 },
      ...{ numberAvailable: 2, numberUnavailable: 2, updatedNumberScheduled: 2 },
    },
  );
});

test('the wait after failures doubles up to 15 minutes, and is forgotten after twice that', () => {
  let now = 0;
  const backoff = new FailureBackoff({ monotonicMs: () => now });
  assert.equal(backoff.remainingMs('n'), 0);
  const waits = Array.from({ length: 12 }, () => {
    backoff.note('n');
    const wait = backoff.remainingMs('n');
    now += wait;
    return wait / 1000;
  });
  assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
  now += 31 * 60_000;
  backoff.note('n');
  assert.equal(backoff.remainingMs('n'), 1000);
});
