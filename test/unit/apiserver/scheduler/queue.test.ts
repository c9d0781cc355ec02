import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readPending } from '../../../../src/apiserver/scheduler/cluster/pod-facts.ts';
import type { Waiting } from '../../../../src/apiserver/scheduler/queue.ts';
import { SchedulingQueue } from '../../../../src/apiserver/scheduler/queue.ts';
import { makePod } from './cluster.ts';

const startMs = Date.parse('2026-05-01T12:00:00Z');

/** `age`: seconds. */
function pending(name: string, priority: number, age = 0, cpu = '1') {
  const pod = makePod(name, { priority, wants: { cpu } });
  const creationTimestamp = new Date(startMs - age * 1000).toISOString();
  return readPending({ ...pod, metadata: { ...pod.metadata, uid: `uid-${name}`, creationTimestamp } });
}

const names = ['a', 'b', 'c', 'd', 'e'];
const isBefore = (one: Waiting, other: Waiting) =>
  one.pod.priority - other.pod.priority || other.sinceMs - one.sinceMs;

type Step =
  | { do: 'set'; name: string; priority: number; age: number; cpu: string }
  | { do: 'delete' | 'postpone' | 'ready'; name: string }
  | { do: 'next' };

const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('set' as const),
    name: fc.constantFrom(...names),
    priority: fc.constantFrom(0, 0, 5, 1000),
    age: fc.integer({ min: 0, max: 3 }),
    cpu: fc.constantFrom('1', '2'),
  }),
  fc.record({
    do: fc.constantFrom('delete' as const, 'postpone' as const, 'ready' as const),
    name: fc.constantFrom(...names),
  }),
  fc.constant({ do: 'next' as const }),
);

test('whatever happens to pods, the next is the most important that is ready, of equal ones the oldest', () => {
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 80 }), (all) => {
      const queue = new SchedulingQueue();
      const ready = new Set<Waiting>();
      const given = new Map<string, { priority: number; age: number }>();
      const key = (name: string) => pending(name, 0).key;
      for (const step of all) {
        if (step.do === 'next') {
          const next = queue.next();
          assert.equal(next === undefined, ready.size === 0);
          if (next === undefined) continue;
          assert.ok(ready.delete(next), 'it was ready');
          for (const other of ready) assert.ok(isBefore(next, other) >= 0, 'none comes before it');
          continue;
        }
        const { name } = step;
        const known = queue.get(key(name));
        if (step.do === 'set') {
          // the priority and the age of a pod never change
          const { priority, age } = known ? (given.get(name) ?? step) : step;
          given.set(name, { priority, age });
          const isNews = known?.pod.likeness !== pending(name, priority, age, step.cpu).likeness;
          const waiting = queue.set(pending(name, priority, age, step.cpu), startMs);
          if (isNews) ready.add(waiting);
        } else if (known !== undefined) {
          if (step.do === 'delete') queue.delete(key(name));
          if (step.do === 'postpone') queue.postpone(known, 1, 0);
          if (step.do === 'ready') queue.makeReady(known);
          if (step.do === 'ready') ready.add(known);
          else ready.delete(known);
        }
        assert.equal(queue.counts.active, ready.size);
      }
    }),
    { numRuns: 500 },
  );
});

describe('a queue that nobody takes from', () => {
  test('keeps the order of those that stay, however many go', () => {
    const queue = new SchedulingQueue();
    const stays = [3, 1, 2].map((priority) => queue.set(pending(`stays-${priority}`, priority), startMs));
    for (let count = 0; count < 5000; count += 1) {
      const name = `goes-${count}`;
      const waiting = queue.set(pending(name, count % 5), startMs);
      queue.delete(waiting.pod.key);
    }
    assert.equal(queue.size, 3);
    const order = [queue.next(), queue.next(), queue.next(), queue.next()];
    assert.deepEqual(order, [stays[0], stays[2], stays[1], undefined]);
  });
});

test('one that cannot be bound waits 1 s, then twice as long, at most 10 s', () => {
  const queue = new SchedulingQueue();
  const waiting = queue.set(pending('a', 0), startMs);
  const waits = [1, 2, 3, 4, 5, 20].map((failures) => {
    queue.postpone(waiting, failures, 50);
    return (waiting.notBeforeMs ?? 0) - 50;
  });
  assert.deepEqual(waits, [1000, 2000, 4000, 8000, 10_000, 10_000]);
  assert.deepEqual(queue.counts, { active: 0, backoff: 1, unschedulable: 0 });
});
