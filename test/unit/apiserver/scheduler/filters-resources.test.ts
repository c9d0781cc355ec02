/** Whether what pods request fits on nodes, by the documented semantics of the reference. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodWords } from './cluster.ts';
import { fits, judgeOne } from './judge.ts';

describe('NodeResourcesFit', () => {
  const used = { wants: { cpu: '3', memory: '6Gi' } };
  const rows: readonly [
    title: string,
    pod: PodWords,
    others: PodWords[],
    has: Record<string, string>,
    expected: string,
  ][] = [
    ['nothing wanted on a full node', {}, [{ wants: { cpu: '4' } }], {}, fits],
    ['all of it', { wants: { cpu: '4', memory: '8Gi' } }, [], {}, fits],
    ['what is left', { wants: { cpu: '1', memory: '2Gi' } }, [used], {}, fits],
    ['a thousandth more cpu than is left', { wants: { cpu: '1001m' } }, [used], {}, 'Insufficient cpu'],
    [
      'a byte more than is left',
      { wants: { memory: `${2 * 2 ** 30 + 1}` } },
      [used],
      {},
      'Insufficient memory',
    ],
    [
      'both too much',
      { wants: { cpu: '2', memory: '4Gi' } },
      [used],
      {},
      'Insufficient cpu, Insufficient memory',
    ],
    ['more than the node has', { wants: { cpu: '5' } }, [], {}, 'Insufficient cpu (final)'],
    ['more memory than the node has', { wants: { memory: '9Gi' } }, [], {}, 'Insufficient memory (final)'],
    [
      'one final, one not',
      { wants: { cpu: '2', memory: '9Gi' } },
      [used],
      {},
      'Insufficient cpu, Insufficient memory (final)',
    ],
    [
      'ephemeral storage',
      { wants: { 'ephemeral-storage': '2Gi' } },
      [],
      { 'ephemeral-storage': '1Gi' },
      'Insufficient ephemeral-storage (final)',
    ],
    [
      'ephemeral storage that is there',
      { wants: { 'ephemeral-storage': '1Gi' } },
      [],
      { 'ephemeral-storage': '1Gi' },
      fits,
    ],
    ['an extended resource', { wants: { 'example.com/gpu': '1' } }, [], { 'example.com/gpu': '1' }, fits],
    [
      'an extended resource in use',
      { wants: { 'example.com/gpu': '1' } },
      [{ wants: { 'example.com/gpu': '1' } }],
      { 'example.com/gpu': '1' },
      'Insufficient example.com/gpu',
    ],
    [
      'an extended resource that is not there',
      { wants: { 'example.com/gpu': '1' } },
      [],
      {},
      'Insufficient example.com/gpu (final)',
    ],
    ['none of an extended resource', { wants: { 'example.com/gpu': '0' } }, [], {}, fits],
    [
      'hugepages',
      { wants: { 'hugepages-2Mi': '4Mi' } },
      [],
      { 'hugepages-2Mi': '2Mi' },
      'Insufficient hugepages-2Mi (final)',
    ],
    ['the last pod', {}, [{}], { pods: '2' }, fits],
    ['one pod too many', {}, [{}, {}], { pods: '2' }, 'Too many pods'],
    ['a node for no pods', {}, [], { pods: '0' }, 'Too many pods'],
    [
      'too many pods and too little cpu',
      { wants: { cpu: '4' } },
      [{ wants: { cpu: '1' } }],
      { pods: '1' },
      'Too many pods, Insufficient cpu',
    ],
    [
      'pods that leave still count',
      { wants: { cpu: '4' } },
      [{ wants: { cpu: '1' }, isLeaving: true }],
      {},
      'Insufficient cpu',
    ],
    ['cpu in decimals', { wants: { cpu: '0.5' } }, [{ wants: { cpu: '3500m' } }], {}, fits],
    [
      'overhead',
      { wants: { cpu: '3' }, spec: { overhead: { cpu: '1001m' } } },
      [],
      {},
      'Insufficient cpu (final)',
    ],
    ['overhead that fits', { wants: { cpu: '3' }, spec: { overhead: { cpu: '1' } } }, [], {}, fits],
    [
      'the overhead of others',
      { wants: { cpu: '1' } },
      [{ wants: { cpu: '3' }, spec: { overhead: { cpu: '1m' } } }],
      {},
      'Insufficient cpu',
    ],
    [
      'resources of the pod as a whole',
      { wants: { cpu: '1' }, spec: { resources: { requests: { cpu: '5' } } } },
      [],
      {},
      'Insufficient cpu (final)',
    ],
    [
      'resources of the pod below those of its containers',
      { wants: { memory: '1Gi' }, spec: { resources: { requests: { cpu: '2' } } } },
      [{ wants: { cpu: '2' } }],
      {},
      fits,
    ],
  ];
  for (const [title, pod, others, has, expected] of rows) {
    test(`${title}: ${expected}`, () => assert.equal(judgeOne(pod, { has }, others), expected));
  }
  const container = (cpu: string, restartPolicy?: string) => ({
    ...{ name: `c${cpu}`, image: 'i', resources: { requests: { cpu } } },
    ...(restartPolicy === undefined ? {} : { restartPolicy }),
  });
  const inits: readonly [
    title: string,
    init: ReturnType<typeof container>[],
    regular: string[],
    expected: string,
  ][] = [
    ['the sum of containers', [], ['2', '2'], fits],
    ['the sum of containers', [], ['2', '3'], 'Insufficient cpu (final)'],
    ['the largest init container', [container('4')], ['1'], fits],
    ['the largest init container', [container('5')], ['1'], 'Insufficient cpu (final)'],
    ['init containers one after the other', [container('3'), container('4')], ['2'], fits],
    ['sidecars beside containers', [container('1', 'Always')], ['3'], fits],
    ['sidecars beside containers', [container('2', 'Always')], ['3'], 'Insufficient cpu (final)'],
    [
      'an init container beside an earlier sidecar',
      [container('1', 'Always'), container('4')],
      ['1'],
      'Insufficient cpu (final)',
    ],
    ['an init container before a sidecar', [container('4'), container('1', 'Always')], ['1'], fits],
  ];
  for (const [title, initContainers, regular, expected] of inits) {
    const spec = { initContainers, containers: regular.map((cpu) => container(cpu)) };
    const what = `${title}: ${initContainers.map(({ name }) => name).join('+')} ${regular.join('+')}: ${expected}`;
    test(what, () => assert.equal(judgeOne({ spec }, {}), expected));
  }
});

describe('DynamicResources', () => {
  test('a pod with resource claims is refused', () => {
    const spec = { resourceClaims: [{ name: 'gpu', resourceClaimName: 'claim' }] };
    const expected = 'pod has resource claims (spec.resourceClaims), which this scheduler does not allocate';
    assert.equal(judgeOne({ spec }, {}), expected);
  });
  test('a pod without any is not', () => assert.equal(judgeOne({ spec: { resourceClaims: [] } }, {}), fits));
});
