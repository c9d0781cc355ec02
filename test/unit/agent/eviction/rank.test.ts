import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { RankedPod, Shortage } from '../../../../src/agent/eviction/rank.ts';
import { rankPods } from '../../../../src/agent/eviction/rank.ts';
import { disk, mi, podOf, useOf } from './samples.ts';

const nameOf = ({ pod }: RankedPod) => pod.metadata?.name ?? '';
const order = (pods: readonly RankedPod[], shortage: Shortage) =>
  rankPods(pods, shortage).map(nameOf).join(' ');

const memory: Shortage = { of: 'memory' };
const pids: Shortage = { of: 'pids' };
const whole = ['layers', 'logs', 'volumes'] as const;

function usesMemory(name: string, used: number, request = 0, priority = 0, madeSeconds = 0): RankedPod {
  const pod = podOf(name, { priority, requests: { memory: `${request}Mi` }, madeSeconds });
  return { pod, use: useOf({ memoryBytes: used * mi }) };
}

describe('for memory a pod goes', () => {
  const cases: [string, readonly RankedPod[], string][] = [
    [
      'first when it is above its request, whatever its priority',
      [usesMemory('within', 900, 1000, -5), usesMemory('above', 2, 1, 1000)],
      'above within',
    ],
    [
      'then by priority',
      [usesMemory('dear', 500, 0, 10), usesMemory('cheap', 5, 0, 1), usesMemory('none', 1)],
      'none cheap dear',
    ],
    [
      'then by how far it is above its request',
      [usesMemory('big', 500, 480), usesMemory('far', 100, 10), usesMemory('near', 50, 49)],
      'far big near',
    ],
    [
      'among those within their requests by how little is left',
      [usesMemory('much', 10, 100), usesMemory('little', 99, 100), usesMemory('even', 100, 100)],
      'even little much',
    ],
    [
      'before all others when there are no figures of it',
      [usesMemory('above', 5), { pod: podOf('blank', { priority: 9 }), use: undefined }],
      'blank above',
    ],
    [
      'the younger before the older when nothing else tells them apart',
      [usesMemory('old', 5, 0, 0, 10), usesMemory('young', 5, 0, 0, 20)],
      'young old',
    ],
  ];
  for (const [what, pods, expected] of cases)
    test(what, () => {
      assert.equal(order(pods, memory), expected);
      assert.equal(order([...pods].reverse(), memory), expected);
    });

  test('by what it requests as a whole, with what running it takes', () => {
    const more = { overhead: { memory: '50Mi' }, resources: { requests: { memory: '100Mi' } } };
    const padded = {
      pod: podOf('padded', { requests: { memory: '1Mi' }, more }),
      use: useOf({ memoryBytes: 149 * mi }),
    };
    assert.equal(order([padded, usesMemory('plain', 2, 1)], memory), 'plain padded');
  });
});

test('for process numbers a pod goes by priority and number alone', () => {
  const uses = (name: string, processes: number, priority = 0) => ({
    pod: podOf(name, { priority }),
    use: useOf({ processes }),
  });
  const blank = { pod: podOf('blank'), use: undefined };
  const pods = [uses('few', 3), uses('dear', 500, 1), blank, uses('many', 90)];
  assert.equal(order(pods, pids), 'blank many few dear');
});

describe('for the disk a pod goes', () => {
  const request = { 'ephemeral-storage': '10Mi' };
  const ofLogs = {
    pod: podOf('logs', { requests: request }),
    use: useOf({ main: { logs: disk(30 * mi, 1), layer: disk(1 * mi, 90) } }),
  };
  const ofVolume = {
    pod: podOf('volume', { requests: request }),
    use: useOf({ main: { logs: disk(1 * mi, 1) }, volumes: [{ name: 'v', ...disk(25 * mi, 4000) }] }),
  };
  const ofLayer = {
    pod: podOf('layer', { requests: request }),
    use: useOf({ main: { layer: disk(28 * mi, 20) } }),
  };
  const pods = [ofVolume, ofLayer, ofLogs];

  test('by all that it has there', () => {
    assert.equal(order(pods, { of: 'ephemeral-storage', parts: whole }), 'logs layer volume');
    assert.equal(order(pods, { of: 'inodes', parts: whole }), 'volume logs layer');
  });

  test('only by what lies on the file system that is short', () => {
    assert.equal(order(pods, { of: 'ephemeral-storage', parts: ['layers'] }), 'layer logs volume');
    assert.equal(order(pods, { of: 'ephemeral-storage', parts: ['logs', 'volumes'] }), 'logs volume layer');
    assert.equal(order(pods, { of: 'inodes', parts: ['layers'] }), 'logs layer volume');
  });

  test('whose request covers what it uses after one whose does not', () => {
    const big = {
      pod: podOf('big', { requests: { 'ephemeral-storage': '1Gi' } }),
      use: useOf({ main: { logs: disk(900 * mi) } }),
    };
    assert.equal(order([big, ...pods], { of: 'ephemeral-storage', parts: whole }), 'logs layer volume big');
  });
});

/** Whether `a` must not stand behind `b`, said for two pods alone and without any sorting. */
function goesFirst(a: RankedPod, b: RankedPod): boolean {
  const used = (each: RankedPod) => (each.use?.memoryBytes ?? 0) / mi;
  const requested = ({ pod }: RankedPod) =>
    Number.parseInt(pod.spec?.containers?.[0]?.resources?.requests?.['memory'] ?? '0', 10);
  const priority = ({ pod }: RankedPod) => pod.spec?.priority ?? 0;
  if (a.use === undefined && b.use !== undefined) return true;
  if (a.use !== undefined && b.use === undefined) return false;
  if (a.use !== undefined && used(a) > requested(a) && used(b) <= requested(b)) return true;
  if (b.use !== undefined && used(b) > requested(b) && used(a) <= requested(a)) return false;
  if (priority(a) !== priority(b)) return priority(a) < priority(b);
  if (a.use === undefined) return true;
  return used(a) - requested(a) >= used(b) - requested(b);
}

test('however pods are: nobody goes before one that must go first, and nobody is lost', () => {
  const sample = fc.record({
    used: fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined }),
    request: fc.integer({ min: 0, max: 6 }),
    priority: fc.integer({ min: -1, max: 2 }),
  });
  fc.assert(
    fc.property(fc.array(sample, { maxLength: 8 }), (samples) => {
      const pods = samples.map(({ used, request, priority }, index) => {
        const { pod, use } = usesMemory(`p${index}`, used ?? 0, request, priority);
        return { pod, use: used === undefined ? undefined : use };
      });
      const ranked = rankPods(pods, memory);
      assert.deepEqual(new Set(ranked), new Set(pods));
      assert.equal(ranked.length, pods.length);
      for (const [index, a] of ranked.entries())
        for (const b of ranked.slice(index + 1))
          assert.ok(goesFirst(a, b), `${nameOf(a)} before ${nameOf(b)}`);
    }),
  );
});
