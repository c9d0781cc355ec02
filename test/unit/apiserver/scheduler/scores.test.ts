/** How the scores that look at one node rate, by the documented formulas of the reference; values are computed by hand. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { scores } from '../../../../src/apiserver/scheduler/scores/index.ts';
import type { NodeWords, PodWords } from './cluster.ts';
import { fourNodes } from './cluster.ts';
import { rate } from './rate.ts';

test('weights are those of the reference', () => {
  assert.deepEqual(Object.fromEntries(scores.map(({ name, weight }) => [name, weight])), {
    TaintToleration: 3,
    NodeAffinity: 2,
    NodeResourcesFit: 1,
    NodeResourcesBalancedAllocation: 1,
    PodTopologySpread: 2,
    InterPodAffinity: 2,
    ImageLocality: 1,
  });
});

/** A pod, what else is on the one node of 4 cpus and 8Gi, what else the node has, its score. */
type ResourceRow = readonly [
  title: string,
  pod: PodWords,
  others: PodWords[],
  has: Record<string, string>,
  expected: number | undefined,
];
const rateOne = (name: string, pod: PodWords, others: readonly PodWords[], has: Record<string, string>) =>
  rate(name, pod, { nodes: { n: { has } }, pods: others.map((each) => ({ node: 'n', ...each })) })?.[0];

describe('NodeResourcesFit: least allocated', () => {
  const rows: readonly ResourceRow[] = [
    ['a pod that requests nothing counts as 100m and 200Mi', {}, [], {}, 97],
    ['half of both', { wants: { cpu: '2', memory: '4Gi' } }, [], {}, 50],
    ['all of both', { wants: { cpu: '4', memory: '8Gi' } }, [], {}, 0],
    ['all memory', { wants: { cpu: '1', memory: '8Gi' } }, [], {}, 37],
    ['no memory requested', { wants: { cpu: '1' } }, [], {}, 86],
    ['no cpu requested', { wants: { memory: '4Gi' } }, [], {}, 73],
    [
      'beside others',
      { wants: { cpu: '1', memory: '2Gi' } },
      [{ wants: { cpu: '2', memory: '4Gi' } }],
      {},
      25,
    ],
    ['beside one that requests nothing', { wants: { cpu: '1', memory: '1Gi' } }, [{}], {}, 78],
    ['requests of zero are none', { wants: { cpu: '0', memory: '0' } }, [], {}, 100],
    ['a node without cpu', { wants: { memory: '4Gi' } }, [], { cpu: '0' }, 50],
    ['a node with neither', {}, [], { cpu: '0', memory: '0' }, 0],
    ['less cpu than is assumed', {}, [], { cpu: '50m' }, 48],
    [
      'two containers that request nothing',
      {
        spec: {
          containers: [
            { name: 'a', image: 'i' },
            { name: 'b', image: 'i' },
          ],
        },
      },
      [],
      {},
      95,
    ],
    [
      'extended resources do not count',
      { wants: { cpu: '2', memory: '4Gi', 'example.com/gpu': '1' } },
      [],
      { 'example.com/gpu': '1' },
      50,
    ],
    ['overhead counts', { wants: { cpu: '1', memory: '4Gi' }, spec: { overhead: { cpu: '1' } } }, [], {}, 50],
    [
      'pods that leave count',
      { wants: { cpu: '1', memory: '2Gi' } },
      [{ wants: { cpu: '2', memory: '4Gi' }, isLeaving: true }],
      {},
      25,
    ],
  ];
  for (const [title, pod, others, has, expected] of rows)
    test(`${title}: ${expected}`, () =>
      assert.equal(rateOne('NodeResourcesFit', pod, others, has), expected));
});

describe('NodeResourcesBalancedAllocation', () => {
  const rows: readonly ResourceRow[] = [
    ['a pod that requests neither', {}, [], {}, undefined],
    ['both alike', { wants: { cpu: '2', memory: '4Gi' } }, [], {}, 100],
    ['all cpu, no memory', { wants: { cpu: '4' } }, [], {}, 50],
    ['all memory, no cpu', { wants: { memory: '8Gi' } }, [], {}, 50],
    ['half the cpu', { wants: { cpu: '2' } }, [], {}, 75],
    ['a quarter and a half', { wants: { cpu: '1', memory: '4Gi' } }, [], {}, 87],
    ['what others left over', { wants: { memory: '4Gi' } }, [{ wants: { cpu: '2' } }], {}, 100],
    ['others that request nothing count nothing', { wants: { cpu: '2', memory: '4Gi' } }, [{}], {}, 100],
    ['a node without memory', { wants: { cpu: '1' } }, [], { memory: '0' }, 100],
    [
      'extended resources do not count',
      { wants: { 'example.com/gpu': '1' } },
      [],
      { 'example.com/gpu': '1' },
      undefined,
    ],
  ];
  for (const [title, pod, others, has, expected] of rows)
    test(`${title}: ${expected}`, () =>
      assert.equal(rateOne('NodeResourcesBalancedAllocation', pod, others, has), expected));
});

describe('ImageLocality', () => {
  const mb = 1024 * 1024;
  const using = (...images: string[]): PodWords => ({
    spec: { containers: images.map((image, index) => ({ name: `c${index}`, image })) },
  });
  const rows: readonly [
    title: string,
    pod: PodWords,
    first: Record<string, number>,
    second: Record<string, number>,
    expected: number[] | undefined,
  ][] = [
    ['no node has it', using('app:1'), {}, {}, undefined],
    ['one of two has it', using('app:1'), { 'app:1': 500 }, {}, [23, 0]],
    ['both have it', using('app:1'), { 'app:1': 500 }, { 'app:1': 500 }, [48, 48]],
    ['both have much', using('app:1'), { 'app:1': 1000 }, { 'app:1': 1000 }, [100, 100]],
    ['more counts no more', using('app:1'), { 'app:1': 2000 }, { 'app:1': 3000 }, [100, 100]],
    ['the least that counts', using('app:1'), { 'app:1': 23 }, { 'app:1': 23 }, [0, 0]],
    ['less than that', using('app:1'), { 'app:1': 10 }, { 'app:1': 10 }, [0, 0]],
    ['another tag', using('app:2'), { 'app:1': 500 }, {}, undefined],
    ['no tag is latest', using('app'), { 'app:latest': 500 }, {}, [23, 0]],
    ['no tag behind a port', using('host:5000/app'), { 'host:5000/app:latest': 500 }, {}, [23, 0]],
    ['a tag behind a port', using('host:5000/app:1'), { 'host:5000/app:1': 500 }, {}, [23, 0]],
    [
      'two containers',
      using('app:1', 'db:1'),
      { 'app:1': 500, 'db:1': 500 },
      { 'app:1': 500, 'db:1': 500 },
      [49, 49],
    ],
    ['one of two images', using('app:1', 'db:1'), { 'app:1': 500 }, { 'app:1': 500 }, [24, 24]],
    [
      'init containers count',
      {
        spec: { initContainers: [{ name: 'i', image: 'db:1' }], containers: [{ name: 'c', image: 'app:1' }] },
      },
      { 'db:1': 500 },
      { 'db:1': 500 },
      [24, 24],
    ],
  ];
  const inBytes = (sizes: Record<string, number>) =>
    Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, size * mb]));
  for (const [title, pod, first, second, expected] of rows) {
    test(`${title}: ${expected}`, () => {
      const nodes = { a: { images: inBytes(first) }, b: { images: inBytes(second) } };
      assert.deepEqual(rate('ImageLocality', pod, { nodes }), expected);
    });
  }
});

describe('TaintToleration', () => {
  const rows: readonly [nodes: string[], tolerated: string, expected: number[] | undefined][] = [
    [['', ''], '', undefined],
    [['a=:PreferNoSchedule', ''], '', [0, 100]],
    [['a=:PreferNoSchedule', 'a=:PreferNoSchedule'], '', [0, 0]],
    [['a=:PreferNoSchedule', 'a=:PreferNoSchedule b=:PreferNoSchedule', ''], '', [50, 0, 100]],
    [['a=:PreferNoSchedule', ''], 'a', undefined],
    [['a=:PreferNoSchedule', 'b=:PreferNoSchedule'], 'a', [100, 0]],
    [['a=:NoSchedule', ''], '', undefined],
    [['a=:PreferNoSchedule b=:PreferNoSchedule c=:PreferNoSchedule', 'a=:PreferNoSchedule'], '', [0, 67]],
  ];
  for (const [taints, key, expected] of rows) {
    test(`${taints.map((each) => each || 'none').join(' | ')}, tolerates ${key || 'none'}: ${expected}`, () => {
      const nodes = Object.fromEntries(
        taints.map((each, index): [string, NodeWords] => [
          `n${index}`,
          { taints: each.split(' ').filter(Boolean) },
        ]),
      );
      const spec = key === '' ? {} : { tolerations: [{ key, operator: 'Exists' }] };
      assert.deepEqual(rate('TaintToleration', { spec }, { nodes }), expected);
    });
  }
});

describe('NodeAffinity: preferred', () => {
  const rows: readonly [
    preferred: [weight: number, key: string, value: string][],
    expected: number[] | undefined,
  ][] = [
    [[], undefined],
    [[[10, 'zone', 'a']], [100, 100, 0, 0]],
    [[[1, 'zone', 'a']], [100, 100, 0, 0]],
    [[[10, 'zone', 'c']], [0, 0, 0, 0]],
    [
      [
        [10, 'zone', 'a'],
        [5, 'zone', 'b'],
      ],
      [100, 100, 50, 50],
    ],
    [
      [
        [10, 'zone', 'a'],
        [5, 'host', 'a1'],
      ],
      [100, 66, 0, 0],
    ],
    [
      [
        [10, 'zone', 'a'],
        [10, 'zone', 'b'],
      ],
      [100, 100, 100, 100],
    ],
    [
      [
        [1, 'zone', 'a'],
        [100, 'host', 'b2'],
      ],
      [1, 1, 0, 100],
    ],
  ];
  for (const [preferred, expected] of rows) {
    test(`${JSON.stringify(preferred)}: ${expected}`, () => {
      const terms = preferred.map(([weight, key, value]) => ({
        weight,
        preference: { matchExpressions: [{ key, operator: 'In', values: [value] }] },
      }));
      const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: terms };
      assert.deepEqual(
        rate('NodeAffinity', { spec: { affinity: { nodeAffinity } } }, { nodes: fourNodes }),
        expected,
      );
    });
  }
});
