import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Neighbour } from '../../../../../src/agent/pods/admission/index.ts';
import { compareForAdmission } from '../../../../../src/agent/pods/admission/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import { admit, neighbour, podOf, requesting } from './support.ts';

const guaranteed = (name: string, cpu: string, memory = '1Mi'): Neighbour => {
  const resources = { requests: { cpu, memory }, limits: { cpu, memory } };
  const containers = [{ name: 'main', image: 'app:1', resources }];
  return { pod: podOf({ containers }, { name, uid: name }), origin: 'api' };
};

/** The names of the pods that would end, or the message. */
function victimsFor(
  pod: Pod,
  others: readonly Neighbour[],
  origin: 'file' | 'api' = 'file',
): string[] | string {
  const admission = admit(pod, { others, origin });
  if (admission.admitted) return [];
  return admission.preempt?.map(({ metadata }) => metadata?.name ?? '') ?? admission.message;
}

describe('room for critical pods', () => {
  test('nothing ends while there is room', () => {
    assert.deepEqual(victimsFor(requesting({ cpu: '1' }), [neighbour('a', { cpu: '1' })]), []);
  });

  test('what is missing is freed by as few as possible', () => {
    const others = [
      neighbour('a', { cpu: '500m' }),
      neighbour('b', { cpu: '1' }),
      neighbour('c', { cpu: '500m' }),
    ];
    assert.deepEqual(victimsFor(requesting({ cpu: '1' }), others), ['b']);
  });

  test('of equal ones the smaller ends', () => {
    const others = [neighbour('big', { cpu: '1500m' }), neighbour('small', { cpu: '500m' })];
    assert.deepEqual(victimsFor(requesting({ cpu: '400m' }), others), ['small']);
  });

  test('cheaper classes end first', () => {
    const others = [guaranteed('g', '1'), neighbour('b', { cpu: '1' })];
    assert.deepEqual(victimsFor(requesting({ cpu: '1' }), others), ['b']);
    assert.deepEqual(victimsFor(requesting({ cpu: '1500m' }), others), ['b', 'g']);
  });

  test('a place among the pods: one that requests nothing ends', () => {
    const others = [
      guaranteed('g', '1m'),
      neighbour('x', {}),
      neighbour('y', { cpu: '1m' }),
      guaranteed('h', '1m'),
    ];
    assert.deepEqual(victimsFor(podOf(), others), ['x']);
  });

  test('another critical pod does not end, nor one of a higher priority', () => {
    const system = neighbour('system', { cpu: '2' }, { priority: 2_000_000_000 });
    const text =
      'Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 1000), ]';
    assert.equal(victimsFor(requesting({ cpu: '1' }), [system]), text);
    const statics = { ...neighbour('static', { cpu: '2' }), origin: 'file' as const };
    assert.equal(victimsFor(requesting({ cpu: '1' }), [statics]), text);
  });

  test('a critical pod of lower priority ends', () => {
    const low = neighbour('low', { cpu: '2' }, { priority: 2_000_000_000 });
    const pod = requesting({ cpu: '1' }, { priority: 2_000_001_000 });
    assert.deepEqual(victimsFor(pod, [low], 'api'), ['low']);
  });

  test('an ordinary pod ends nobody', () => {
    const text = "Node didn't have enough resource: cpu, requested: 1000, used: 2000, capacity: 2000";
    assert.equal(victimsFor(requesting({ cpu: '1' }), [neighbour('a', { cpu: '2' })], 'api'), text);
  });

  test('nobody ends for a pod that would not run here all the same', () => {
    const pod = requesting({ cpu: '1' }, { nodeSelector: { zone: 'b' } });
    assert.match(String(victimsFor(pod, [neighbour('a', { cpu: '2' })])), /^Predicate NodeAffinity failed/);
  });

  test('several resources: each must be freed', () => {
    const others = [neighbour('c', { cpu: '2' }), neighbour('m', { memory: '1Gi' })];
    const both = victimsFor(requesting({ cpu: '1', memory: '512Mi' }), others);
    assert.deepEqual(Array.isArray(both) && both.toSorted(), ['c', 'm']);
  });
});

test('after a restart the oldest are asked first', () => {
  const made = (name: string, creationTimestamp: string) => podOf({}, { name, creationTimestamp });
  const pods = [
    made('c', '2026-01-03T00:00:00Z'),
    made('b', '2026-01-01T00:00:00Z'),
    made('a', '2026-01-01T00:00:00Z'),
  ];
  const names = pods.toSorted(compareForAdmission).map(({ metadata }) => metadata?.name);
  assert.deepEqual(names, ['a', 'b', 'c']);
});

test('where anything helps, the pods that end are enough, and only such as may end', () => {
  const others = fc.array(
    fc.record({
      cpu: fc.integer({ min: 0, max: 1000 }),
      memory: fc.integer({ min: 0, max: 512 }),
      isGuaranteed: fc.boolean(),
      priority: fc.constantFrom(undefined, 0, 2_000_000_000),
    }),
    { maxLength: 6 },
  );
  const wanted = fc.record({
    cpu: fc.integer({ min: 1, max: 2000 }),
    memory: fc.integer({ min: 1, max: 1024 }),
  });
  fc.assert(
    fc.property(others, wanted, (neighbours, { cpu, memory }) => {
      const pods = neighbours.map((each, index): Neighbour => {
        const requests = { cpu: `${each.cpu}m`, memory: `${each.memory}Mi` };
        const resources = each.isGuaranteed ? { requests, limits: requests } : { requests };
        const containers = [{ name: 'main', image: 'app:1', resources }];
        const priority = each.priority === undefined ? {} : { priority: each.priority };
        return {
          pod: podOf({ containers, ...priority }, { name: `p${index}`, uid: `p${index}` }),
          origin: 'api',
        };
      });
      const pod = requesting({ cpu: `${cpu}m`, memory: `${memory}Mi` });
      const admission = admit(pod, { others: pods, origin: 'file' });
      const preemptable = pods.filter((each) => (each.pod.spec?.priority ?? 0) < 2_000_000_000);
      const without = (victims: readonly Pod[]) => pods.filter((each) => !victims.includes(each.pod));
      const fits = (victims: readonly Pod[]) =>
        admit(pod, { others: without(victims), origin: 'file' }).admitted;
      if (admission.admitted) return;
      const { preempt } = admission;
      if (preempt === undefined) return assert.equal(fits(preemptable.map((each) => each.pod)), false);
      assert.ok(preempt.length > 0 && fits(preempt));
      assert.ok(preempt.every((victim) => preemptable.some((each) => each.pod === victim)));
    }),
  );
});
