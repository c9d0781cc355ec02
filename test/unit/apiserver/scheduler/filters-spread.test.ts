/** How required spreading rules out nodes, by the documented semantics of the reference. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterWords, PodSpec, PodWords } from './cluster.ts';
import { app, fourNodes, webOn } from './cluster.ts';
import { judge, passing } from './judge.ts';

describe('PodTopologySpread', () => {
  const skewed = "node(s) didn't match pod topology spread constraints";
  type Constraint = NonNullable<PodSpec['topologySpreadConstraints']>[number];
  const constraint = (change: Partial<Constraint> = {}): Constraint => ({
    ...{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' },
    labelSelector: { matchLabels: app },
    ...change,
  });
  const rows: readonly [pods: string, change: Partial<Constraint>, expected: string][] = [
    ['', {}, 'a1 a2 b1 b2'],
    ['a1', {}, 'b1 b2'],
    ['a1 b1', {}, 'a1 a2 b1 b2'],
    ['a1 a2', {}, 'b1 b2'],
    ['a1 a2 b1', {}, 'b1 b2'],
    ['a1', { maxSkew: 2 }, 'a1 a2 b1 b2'],
    ['a1 a2', { maxSkew: 2 }, 'b1 b2'],
    ['a1 a2 a1', { maxSkew: 3 }, 'b1 b2'],
    ['a1', { topologyKey: 'host' }, 'a2 b1 b2'],
    ['a1 a2 b1', { topologyKey: 'host' }, 'b2'],
    ['a1 a2 b1 b2', { topologyKey: 'host' }, 'a1 a2 b1 b2'],
    ['a1 a1 a2 b1 b2', { topologyKey: 'host' }, 'a2 b1 b2'],
    ['', { minDomains: 2 }, 'a1 a2 b1 b2'],
    ['', { minDomains: 3 }, 'a1 a2 b1 b2'],
    ['a1 b1', { minDomains: 3 }, ''],
    ['a1', { minDomains: 3 }, 'b1 b2'],
    ['a1 b1', { minDomains: 2 }, 'a1 a2 b1 b2'],
    ['a1 b1', { minDomains: 3, maxSkew: 2 }, 'a1 a2 b1 b2'],
    ['a1 a2', { whenUnsatisfiable: 'ScheduleAnyway' }, 'a1 a2 b1 b2'],
    ['a1 a2', { labelSelector: { matchLabels: { app: 'other' } } }, 'a1 a2 b1 b2'],
    ['a1 a2', { labelSelector: {} }, 'b1 b2'],
    ['a1 a2', { labelSelector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } }, 'b1 b2'],
  ];
  for (const [pods, change, expected] of rows) {
    test(`pods on ${pods || 'no node'}, ${JSON.stringify(change)}: ${expected || 'none'}`, () => {
      const pod = { labels: app, spec: { topologySpreadConstraints: [constraint(change)] } };
      assert.equal(passing(judge(pod, { nodes: fourNodes, pods: webOn(pods) })), expected);
    });
  }
  const spreading = (...constraints: Constraint[]): PodWords => ({
    labels: app,
    spec: { topologySpreadConstraints: constraints },
  });
  const others: readonly [title: string, pod: PodWords, words: ClusterWords, expected: string][] = [
    [
      'a pod that its selector does not select counts as none',
      { ...spreading(constraint()), labels: {} },
      { nodes: fourNodes, pods: webOn('a1') },
      'a1 a2 b1 b2',
    ],
    [
      'pods of other namespaces do not count',
      spreading(constraint()),
      { nodes: fourNodes, pods: [{ node: 'a1', labels: app, namespace: 'x' }] },
      'a1 a2 b1 b2',
    ],
    [
      'pods that leave do not count',
      spreading(constraint()),
      { nodes: fourNodes, pods: [{ node: 'a1', labels: app, isLeaving: true }] },
      'a1 a2 b1 b2',
    ],
    [
      'pods without the label do not count',
      spreading(constraint()),
      { nodes: fourNodes, pods: [{ node: 'a1' }] },
      'a1 a2 b1 b2',
    ],
    [
      'both constraints',
      spreading(constraint(), constraint({ topologyKey: 'host' })),
      { nodes: fourNodes, pods: webOn('a1 b1') },
      'a2 b2',
    ],
    [
      'no node satisfies both',
      spreading(constraint(), constraint({ topologyKey: 'host' })),
      { nodes: fourNodes, pods: webOn('a1 a2 b1 b1 b2') },
      'a1 a2',
    ],
    [
      'nodes with one of two keys form no domain',
      spreading(constraint(), constraint({ topologyKey: 'host' })),
      { nodes: { ...fourNodes, c: { labels: { zone: 'c' } } }, pods: webOn('a1 b1') },
      'a2 b2',
    ],
    [
      'nodes that the selector excludes do not count',
      {
        ...spreading(constraint()),
        spec: { nodeSelector: { zone: 'a' }, topologySpreadConstraints: [constraint()] },
      },
      { nodes: fourNodes, pods: webOn('a1 a2') },
      'a1 a2',
    ],
    [
      'with nodeAffinityPolicy Ignore they do',
      {
        labels: app,
        spec: {
          nodeSelector: { zone: 'a' },
          topologySpreadConstraints: [constraint({ nodeAffinityPolicy: 'Ignore' })],
        },
      },
      { nodes: fourNodes, pods: webOn('a1 a2') },
      '',
    ],
    [
      'tainted nodes count by default',
      spreading(constraint()),
      { nodes: { a1: fourNodes.a1, b1: { ...fourNodes.b1, taints: ['k=:NoSchedule'] } }, pods: webOn('a1') },
      '',
    ],
    [
      'with nodeTaintsPolicy Honor they do not',
      spreading(constraint({ nodeTaintsPolicy: 'Honor' })),
      { nodes: { a1: fourNodes.a1, b1: { ...fourNodes.b1, taints: ['k=:NoSchedule'] } }, pods: webOn('a1') },
      'a1',
    ],
    [
      'a taint PreferNoSchedule excludes no node from counting',
      spreading(constraint({ nodeTaintsPolicy: 'Honor' })),
      {
        nodes: { a1: fourNodes.a1, b1: { ...fourNodes.b1, taints: ['k=:PreferNoSchedule'] } },
        pods: webOn('a1'),
      },
      'b1',
    ],
    [
      'matchLabelKeys narrow the selector',
      {
        labels: { ...app, rev: '2' },
        spec: { topologySpreadConstraints: [constraint({ matchLabelKeys: ['rev'] })] },
      },
      { nodes: fourNodes, pods: [{ node: 'a1', labels: { ...app, rev: '1' } }] },
      'a1 a2 b1 b2',
    ],
    [
      'matchLabelKeys of the same revision',
      {
        labels: { ...app, rev: '2' },
        spec: { topologySpreadConstraints: [constraint({ matchLabelKeys: ['rev'] })] },
      },
      { nodes: fourNodes, pods: [{ node: 'a1', labels: { ...app, rev: '2' } }] },
      'b1 b2',
    ],
    [
      'matchLabelKeys that the pod lacks are left out',
      { labels: app, spec: { topologySpreadConstraints: [constraint({ matchLabelKeys: ['rev'] })] } },
      { nodes: fourNodes, pods: webOn('a1') },
      'b1 b2',
    ],
  ];
  for (const [title, pod, words, expected] of others) {
    test(`${title}: ${expected || 'none'}`, () => assert.equal(passing(judge(pod, words)), expected));
  }
  test('reasons: too many can change, a missing label cannot', () => {
    const verdicts = judge(spreading(constraint()), { nodes: { ...fourNodes, bare: {} }, pods: webOn('a1') });
    assert.ok(typeof verdicts === 'object');
    assert.equal(verdicts['a1'], skewed);
    assert.equal(verdicts['bare'], `${skewed} (missing required label) (final)`);
  });
});
