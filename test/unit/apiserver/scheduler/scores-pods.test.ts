/** How the scores that look at other pods rate, by the documented formulas of the reference; values are computed by hand. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterWords, NodeWords, PodSpec, PodWords } from './cluster.ts';
import { app, fourNodes, webOn } from './cluster.ts';
import { rate } from './rate.ts';

describe('InterPodAffinity', () => {
  const term = (topologyKey = 'zone', namespaces: string[] = []) => ({
    ...{ topologyKey, labelSelector: { matchLabels: app } },
    ...(namespaces.length === 0 ? {} : { namespaces }),
  });
  type Kind = 'podAffinity' | 'podAntiAffinity';
  const prefers = (kind: Kind, weight: number, ...of: Parameters<typeof term>): PodWords => ({
    spec: {
      affinity: {
        [kind]: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm: term(...of) }],
        },
      },
    },
  });
  const requires = (kind: Kind, ...of: Parameters<typeof term>): PodWords => ({
    spec: { affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: [term(...of)] } } },
  });
  const web: PodWords = { labels: app };
  const rows: readonly [title: string, pod: PodWords, pods: PodWords[], expected: number[] | undefined][] = [
    ['nobody prefers anything', web, webOn('a1'), undefined],
    ['near one', prefers('podAffinity', 10), webOn('a1'), [100, 100, 0, 0]],
    ['near one of a host', prefers('podAffinity', 10, 'host'), webOn('a1'), [100, 0, 0, 0]],
    ['near nobody', prefers('podAffinity', 10), [], undefined],
    ['near more', prefers('podAffinity', 10), webOn('a1 a1 b1'), [100, 100, 0, 0]],
    ['near many of hosts', prefers('podAffinity', 10, 'host'), webOn('a1 a1 b1'), [100, 0, 50, 0]],
    ['near as many', prefers('podAffinity', 10), webOn('a1 b1'), [0, 0, 0, 0]],
    ['apart from one', prefers('podAntiAffinity', 10), webOn('a1'), [0, 0, 100, 100]],
    ['apart from hosts', prefers('podAntiAffinity', 10, 'host'), webOn('a1 a1 b1'), [0, 100, 50, 100]],
    [
      'pods of other namespaces',
      prefers('podAffinity', 10),
      [{ node: 'a1', labels: app, namespace: 'x' }],
      undefined,
    ],
    [
      'pods of named namespaces',
      prefers('podAffinity', 10, 'zone', ['x']),
      [{ node: 'a1', labels: app, namespace: 'x' }],
      [100, 100, 0, 0],
    ],
    ['another prefers it near', web, [{ node: 'a1', ...prefers('podAffinity', 10) }], [100, 100, 0, 0]],
    ['another prefers it apart', web, [{ node: 'a1', ...prefers('podAntiAffinity', 10) }], [0, 0, 100, 100]],
    ['another requires it near', web, [{ node: 'a1', ...requires('podAffinity') }], [100, 100, 0, 0]],
    [
      'another requires others near',
      { labels: { app: 'db' } },
      [{ node: 'a1', ...requires('podAffinity') }],
      undefined,
    ],
    [
      'another requires it apart, which is a filter',
      web,
      [{ node: 'a1', ...requires('podAntiAffinity') }],
      undefined,
    ],
    [
      'a required term counts one',
      web,
      [
        { node: 'a1', ...requires('podAffinity') },
        { node: 'b1', ...prefers('podAffinity', 4) },
      ],
      [0, 0, 100, 100],
    ],
    ['its own required terms count nothing', { ...requires('podAffinity') }, webOn('a1'), undefined],
    ['a label that no node has', prefers('podAffinity', 10, 'rack'), webOn('a1'), undefined],
    [
      'near by zone and away by host',
      { labels: app, ...prefers('podAffinity', 10) },
      [...webOn('a1'), { node: 'a1', ...prefers('podAntiAffinity', 5, 'host') }],
      [50, 100, 0, 0],
    ],
  ];
  for (const [title, pod, pods, expected] of rows)
    test(`${title}: ${expected}`, () =>
      assert.deepEqual(rate('InterPodAffinity', pod, { nodes: fourNodes, pods }), expected));
});

describe('PodTopologySpread: ScheduleAnyway', () => {
  type Constraint = NonNullable<PodSpec['topologySpreadConstraints']>[number];
  const soft = (change: Partial<Constraint> = {}): Constraint => ({
    ...{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' },
    labelSelector: { matchLabels: app },
    ...change,
  });
  const hostKey = 'kubernetes.io/hostname';
  const hosts = Object.fromEntries(
    Object.entries(fourNodes).map(([name, { labels }]): [string, NodeWords] => [
      name,
      { labels: { ...labels, [hostKey]: name, 'topology.kubernetes.io/zone': labels?.['zone'] ?? '' } },
    ]),
  );
  const withBare = { ...hosts, bare: {} };
  const rows: readonly [
    title: string,
    constraints: Constraint[],
    words: ClusterWords,
    expected: number[] | undefined,
  ][] = [
    ['nothing to spread', [], { nodes: hosts }, undefined],
    ['no pods yet', [soft()], { nodes: hosts }, [100, 100, 100, 100]],
    ['one in a zone', [soft()], { nodes: hosts, pods: webOn('a1') }, [0, 0, 100, 100]],
    ['two and one', [soft()], { nodes: hosts, pods: webOn('a1 a2 b1') }, [33, 33, 100, 100]],
    ['as many', [soft()], { nodes: hosts, pods: webOn('a1 b1') }, [100, 100, 100, 100]],
    [
      'a larger skew makes less of it',
      [soft({ maxSkew: 3 })],
      { nodes: hosts, pods: webOn('a1') },
      [66, 66, 100, 100],
    ],
    ['by host', [soft({ topologyKey: hostKey })], { nodes: hosts, pods: webOn('a1') }, [0, 100, 100, 100]],
    [
      'by host, two and one',
      [soft({ topologyKey: hostKey })],
      { nodes: hosts, pods: webOn('a1 a1 a2') },
      [0, 50, 100, 100],
    ],
    [
      'a node without the label is worst',
      [soft()],
      { nodes: withBare, pods: webOn('a1') },
      [0, 0, 100, 100, 0],
    ],
    ['a node without the label, no pods', [soft()], { nodes: withBare }, [100, 100, 100, 100, 0]],
    [
      'pods that leave do not count',
      [soft()],
      { nodes: hosts, pods: [{ node: 'a1', labels: app, isLeaving: true }] },
      [100, 100, 100, 100],
    ],
    [
      'pods of other namespaces do not count',
      [soft()],
      { nodes: hosts, pods: [{ node: 'a1', labels: app, namespace: 'x' }] },
      [100, 100, 100, 100],
    ],
    [
      'required constraints are filters',
      [soft({ whenUnsatisfiable: 'DoNotSchedule' })],
      { nodes: hosts, pods: webOn('a1') },
      undefined,
    ],
    [
      'required constraints keep the defaults away',
      [soft({ whenUnsatisfiable: 'DoNotSchedule' })],
      { nodes: hosts, pods: webOn('a1'), service: app },
      undefined,
    ],
    ['its Service, no pods yet', [], { nodes: hosts, service: app }, [100, 100, 100, 100]],
    [
      'its Service, by host and zone',
      [],
      { nodes: hosts, pods: webOn('a1'), service: app },
      [66, 88, 100, 100],
    ],
    [
      'its own constraints instead of its Service',
      [soft()],
      { nodes: hosts, pods: webOn('a1'), service: app },
      [0, 0, 100, 100],
    ],
  ];
  for (const [title, topologySpreadConstraints, words, expected] of rows) {
    test(`${title}: ${expected}`, () => {
      const pod = { labels: app, spec: { topologySpreadConstraints } };
      assert.deepEqual(rate('PodTopologySpread', pod, words), expected);
    });
  }
});
