/** Who ends for a more important pod, by the documented rules of the reference. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readPod } from '../../../../src/apiserver/scheduler/cluster/pod-facts.ts';
import { Nominations } from '../../../../src/apiserver/scheduler/nominations.ts';
import { placePod } from '../../../../src/apiserver/scheduler/place-pod.ts';
import type { Budget } from '../../../../src/apiserver/scheduler/preemption.ts';
import { choosePreemption } from '../../../../src/apiserver/scheduler/preemption.ts';
import type { ClusterWords, NodeWords, PodWords } from './cluster.ts';
import { makeCluster, makePod, pending } from './cluster.ts';

interface Case extends Omit<ClusterWords, 'nodes'> {
  readonly nodes?: Readonly<Record<string, NodeWords>>;
  readonly budgets?: readonly Budget[];
  /** The node that the pod waits for. */
  readonly nominated?: string;
  /** Pods that wait for a node. */
  readonly coming?: readonly (PodWords & { node: string })[];
}

/** `NODE: VICTIM VICTIM`, by their numbers in `pods`; or why there are none. */
function preempt(
  pod: PodWords,
  { nodes = { n: {} }, budgets = [], nominated, coming = [], ...words }: Case,
): string {
  const cluster = makeCluster({ nodes, ...words });
  const nominations = new Nominations();
  const incoming = pending(pod);
  nominations.set(incoming, nominated);
  for (const [index, each] of coming.entries())
    nominations.set(readPod(makePod(`coming${index}`, each)), each.node);
  const options = { cluster, nominations, random: () => 0 };
  const placement = placePod(incoming, { ...options, startAt: 0 });
  assert.ok('verdicts' in placement, 'it is to fit nowhere');
  const chosen = choosePreemption(incoming, placement.verdicts, placement.rules, { ...options, budgets });
  if ('message' in chosen) return chosen.message;
  return `${chosen.node.name}: ${chosen.pods.map(({ name }) => name.replace('other', '')).join(' ')}`;
}

const on = (
  node: string,
  cpu: string,
  priority: number,
  change: PodWords = {},
): PodWords & { node: string } => ({
  node,
  wants: { cpu },
  priority,
  ...change,
});
const wanting = (cpu: string, change: PodWords = {}): PodWords => ({
  wants: { cpu },
  priority: 10,
  ...change,
});
const noVictims = '0/1 nodes are available: 1 No preemption victims found for incoming pod.';
const notHelpful = '0/1 nodes are available: 1 Preemption is not helpful for scheduling.';
const at = (day: number) => ({ startTime: `2026-01-0${day}T00:00:00Z` });

describe('victims of a node', () => {
  test('are none of the pods that its own manifests make: they would be there again', () => {
    const pods = [on('n', '4', 0, { isMirror: true })];
    assert.equal(preempt(wanting('1'), { pods }), noVictims);
    const beside = [on('n', '2', 0, { isMirror: true }), on('n', '2', 0)];
    assert.equal(preempt(wanting('1'), { pods: beside }), 'n: 1');
  });

  const web = { app: 'web' };
  const apart = {
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: 'host', labelSelector: { matchLabels: web } },
        ],
      },
    },
  };
  const port = { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort: 80 }] }] };
  const spread = {
    topologySpreadConstraints: [
      {
        topologyKey: 'host',
        maxSkew: 1,
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: web },
      },
    ],
  };
  const host = { n: { labels: { host: 'n' } } };
  const two = { n: { labels: { host: 'n' } }, m: { labels: { host: 'm' }, has: { pods: '0' } } };
  const rows: readonly [title: string, pod: PodWords, words: Case, expected: string][] = [
    ['a less important one', wanting('4'), { pods: [on('n', '4', 1)] }, 'n: 0'],
    ['one of priority 9', wanting('4'), { pods: [on('n', '4', 9)] }, 'n: 0'],
    ['one of a negative priority', wanting('4', { priority: 0 }), { pods: [on('n', '4', -1)] }, 'n: 0'],
    ['none as important', wanting('4'), { pods: [on('n', '4', 10)] }, noVictims],
    ['none more important', wanting('4'), { pods: [on('n', '4', 11)] }, noVictims],
    ['none where the pod is too large', wanting('5'), { pods: [on('n', '4', 1)] }, notHelpful],
    ['the least important of two', wanting('2'), { pods: [on('n', '2', 1), on('n', '2', 2)] }, 'n: 0'],
    [
      'the least important of two, in the other order',
      wanting('2'),
      { pods: [on('n', '2', 2), on('n', '2', 1)] },
      'n: 1',
    ],
    ['the younger of two', wanting('2'), { pods: [on('n', '2', 1, at(2)), on('n', '2', 1, at(1))] }, 'n: 0'],
    [
      'the one that has not started',
      wanting('2'),
      { pods: [on('n', '2', 1, at(2)), on('n', '2', 1)] },
      'n: 1',
    ],
    ['both where both are needed', wanting('3'), { pods: [on('n', '2', 1), on('n', '2', 2)] }, 'n: 1 0'],
    [
      'not the small one that may stay',
      wanting('3'),
      { pods: [on('n', '3', 1, at(1)), on('n', '1', 1, at(2))] },
      'n: 0',
    ],
    [
      'the more important may stay, though two others end',
      wanting('2'),
      { pods: [on('n', '2', 3), on('n', '1', 1), on('n', '1', 2)] },
      'n: 2 1',
    ],
    [
      'none where more important ones take the room',
      wanting('2'),
      { pods: [on('n', '1', 1), on('n', '3', 20)] },
      '0/1 nodes are available: 1 Insufficient cpu.',
    ],
    [
      'one of three by memory',
      { priority: 10, wants: { memory: '4Gi' } },
      { pods: [{ node: 'n', priority: 1, wants: { memory: '5Gi' } }, on('n', '1', 1)] },
      'n: 0',
    ],
    [
      'one whose port is wanted',
      { priority: 10, spec: port },
      { pods: [{ node: 'n', priority: 1, spec: port }, on('n', '1', 0)] },
      'n: 0',
    ],
    [
      'none where the port is of a more important one',
      { priority: 10, spec: port },
      { pods: [{ node: 'n', priority: 20, spec: port }, on('n', '1', 0)] },
      "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.",
    ],
    [
      'the pod that is one too many',
      wanting('1'),
      { nodes: { n: { has: { pods: '2' } } }, pods: [on('n', '1', 1), on('n', '1', 2)] },
      'n: 0',
    ],
    [
      'one that it wants apart',
      { priority: 10, spec: apart },
      { nodes: host, pods: [{ node: 'n', priority: 1, labels: web }, on('n', '1', 0)] },
      'n: 0',
    ],
    [
      'one that wants it apart',
      { priority: 10, labels: web },
      { nodes: host, pods: [{ node: 'n', priority: 1, spec: apart }, on('n', '1', 0)] },
      'n: 0',
    ],
    [
      'none where the one apart is more important',
      { priority: 10, spec: apart },
      { nodes: host, pods: [{ node: 'n', priority: 20, labels: web }, on('n', '1', 0)] },
      "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules.",
    ],
    [
      'one that skews its spread',
      { priority: 10, labels: web, spec: spread },
      { nodes: two, pods: [{ node: 'n', priority: 1, labels: web }, on('n', '1', 0)] },
      'n: 0',
    ],
    [
      'one that holds an extended resource',
      { priority: 10, wants: { 'e.com/gpu': '1' } },
      {
        nodes: { n: { has: { 'e.com/gpu': '1' } } },
        pods: [{ node: 'n', priority: 1, wants: { 'e.com/gpu': '1' } }, on('n', '4', 0)],
      },
      'n: 0',
    ],
    [
      'none on a node with a taint',
      wanting('1'),
      { nodes: { n: { taints: ['k=:NoSchedule'] } }, pods: [on('n', '4', 1)] },
      notHelpful,
    ],
    [
      'none on a cordoned node',
      wanting('1'),
      { nodes: { n: { cordoned: true } }, pods: [on('n', '4', 1)] },
      notHelpful,
    ],
    [
      'none on a node that the selector excludes',
      wanting('1', { spec: { nodeSelector: { a: 'b' } } }),
      { pods: [on('n', '4', 1)] },
      notHelpful,
    ],
    [
      'none for a pod that must not preempt',
      wanting('4', { spec: { preemptionPolicy: 'Never' } }),
      { pods: [on('n', '4', 1)] },
      'not eligible due to preemptionPolicy=Never.',
    ],
    [
      'one for a pod that says it may',
      wanting('4', { spec: { preemptionPolicy: 'PreemptLowerPriority' } }),
      { pods: [on('n', '4', 1)] },
      'n: 0',
    ],
    [
      'one whose sidecar takes the room',
      wanting('4'),
      {
        pods: [
          {
            node: 'n',
            priority: 1,
            spec: {
              initContainers: [
                { name: 's', image: 'i', restartPolicy: 'Always', resources: { requests: { cpu: '1' } } },
              ],
              containers: [],
            },
          },
        ],
      },
      'n: 0',
    ],
  ];
  for (const [title, pod, words, expected] of rows)
    test(`${title}: ${expected}`, () => assert.equal(preempt(pod, words), expected));
});

describe('the node whose victims cost the least', () => {
  const nodes = { a: {}, b: {} };
  const rows: readonly [title: string, pods: PodWords[], expected: string][] = [
    ['its only node with victims', [on('a', '4', 20), on('b', '4', 1)], 'b: 1'],
    ['the highest priority is lower', [on('a', '4', 5), on('b', '4', 3)], 'b: 1'],
    ['the highest priority is lower, in the other order', [on('a', '4', 3), on('b', '4', 5)], 'a: 0'],
    ['the highest counts before the sum', [on('a', '4', 5), on('b', '2', 4), on('b', '2', 4)], 'b: 1 2'],
    ['the sum is lower', [on('a', '2', 5), on('a', '2', 4), on('b', '2', 5), on('b', '2', 3)], 'b: 2 3'],
    ['there are fewer', [on('a', '2', 5), on('a', '2', 5), on('b', '4', 5)], 'b: 2'],
    ['negative priorities: there are fewer', [on('a', '2', -5), on('a', '2', -5), on('b', '4', -5)], 'b: 2'],
    ['the most important began last', [on('a', '4', 5, at(1)), on('b', '4', 5, at(2))], 'b: 1'],
    [
      'the most important began last, in the other order',
      [on('a', '4', 5, at(2)), on('b', '4', 5, at(1))],
      'a: 0',
    ],
    [
      'only the most important counts for that',
      [on('a', '2', 5, at(2)), on('a', '2', 4, at(1)), on('b', '2', 5, at(1)), on('b', '2', 4, at(3))],
      'a: 0 1',
    ],
    ['the first where all is equal', [on('a', '4', 5, at(1)), on('b', '4', 5, at(1))], 'a: 0'],
  ];
  for (const [title, pods, expected] of rows)
    test(`${title}: ${expected}`, () => assert.equal(preempt(wanting('4'), { nodes, pods }), expected));
});

describe('budgets', () => {
  const nodes = { a: {}, b: {} };
  const labels = { app: 'web' };
  const budget = (disruptionsAllowed: number, change: Budget = {}): Budget => ({
    metadata: { namespace: 'ns' },
    spec: { selector: { matchLabels: labels } },
    status: { disruptionsAllowed },
    ...change,
  });
  const kept = on('a', '4', 1, { labels });
  const rows: readonly [title: string, pods: PodWords[], budgets: Budget[], expected: string][] = [
    ['without any', [kept, on('b', '4', 5)], [], 'a: 0'],
    ['a more important victim before one that a budget keeps', [kept, on('b', '4', 5)], [budget(0)], 'b: 1'],
    ['a budget that allows one', [kept, on('b', '4', 5)], [budget(1)], 'a: 0'],
    [
      'a budget for other pods',
      [kept, on('b', '4', 5)],
      [budget(0, { spec: { selector: { matchLabels: { app: 'db' } } } })],
      'a: 0',
    ],
    [
      'a budget of another namespace',
      [kept, on('b', '4', 5)],
      [budget(0, { metadata: { namespace: 'x' } })],
      'a: 0',
    ],
    ['a budget without a selector', [kept, on('b', '4', 5)], [budget(0, { spec: {} })], 'a: 0'],
    [
      'a budget with an empty selector',
      [kept, on('b', '4', 5)],
      [budget(0, { spec: { selector: {} } })],
      'a: 0',
    ],
    [
      'one that is being disrupted already',
      [kept, on('b', '4', 5)],
      [budget(0, { status: { disruptionsAllowed: 0, disruptedPods: { other0: '2026-01-01T00:00:00Z' } } })],
      'a: 0',
    ],
    [
      'one is allowed, two would end',
      [on('a', '2', 1, { labels }), on('a', '2', 1, { labels }), on('b', '4', 5)],
      [budget(1)],
      'b: 2',
    ],
    [
      'both nodes violate: the fewest',
      [on('a', '2', 1, { labels }), on('a', '2', 1, { labels }), on('b', '4', 5, { labels })],
      [budget(0)],
      'b: 2',
    ],
    ['of two budgets one is enough', [kept, on('b', '4', 5)], [budget(5), budget(0)], 'b: 1'],
    ['where there is no other way it is violated', [kept, on('b', '4', 20)], [budget(0)], 'a: 0'],
  ];
  for (const [title, pods, budgets, expected] of rows)
    test(`${title}: ${expected}`, () =>
      assert.equal(preempt(wanting('4'), { nodes, pods, budgets }), expected));
  test('of one node those stay that a budget keeps', () => {
    const pods = [on('n', '2', 1, { labels, ...at(2) }), on('n', '2', 1, at(1))];
    assert.equal(preempt(wanting('2'), { pods, budgets: [budget(0)] }), 'n: 1');
    assert.equal(preempt(wanting('2'), { pods }), 'n: 0');
  });
});

describe('nominated pods', () => {
  const ending: PodWords = on('n', '4', 1, {
    isLeaving: true,
    status: {
      conditions: [
        {
          type: 'DisruptionTarget',
          status: 'True',
          reason: 'PreemptionByScheduler',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    },
  });
  const rows: readonly [title: string, pod: PodWords, words: Case, expected: string][] = [
    [
      'waits for its victims',
      wanting('4'),
      { nominated: 'n', pods: [ending] },
      'not eligible due to a terminating pod on the nominated node.',
    ],
    [
      'waits for no pod that ends for another reason',
      wanting('4'),
      { nominated: 'n', pods: [on('n', '4', 1, { isLeaving: true })] },
      'n: 0',
    ],
    [
      'waits for no pod that is as important',
      wanting('4'),
      { nominated: 'n', pods: [{ ...ending, priority: 10 }] },
      noVictims,
    ],
    [
      'does not wait where it could not run any more',
      wanting('4'),
      { nominated: 'n', nodes: { n: { cordoned: true }, m: {} }, pods: [ending, on('m', '4', 1)] },
      'm: 1',
    ],
    [
      'does not wait for a node that is gone',
      wanting('4'),
      { nominated: 'gone', pods: [on('n', '4', 1)] },
      'n: 0',
    ],
    [
      'leaves the room of a more important one',
      wanting('3'),
      { pods: [on('n', '4', 1)], coming: [on('n', '2', 20)] },
      '0/1 nodes are available: 1 Insufficient cpu.',
    ],
    [
      'leaves the room of one as important',
      wanting('3'),
      { pods: [on('n', '4', 1)], coming: [on('n', '2', 10)] },
      '0/1 nodes are available: 1 Insufficient cpu.',
    ],
    [
      'leaves no room to a less important one',
      wanting('3'),
      { pods: [on('n', '4', 1)], coming: [on('n', '2', 5)] },
      'n: 0',
    ],
  ];
  for (const [title, pod, words, expected] of rows)
    test(`${title}: ${expected}`, () => assert.equal(preempt(pod, words), expected));
});
