import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { formatTime, StatusError } from '../../../../src/api/index.ts';
import type { CountedEvent, EventOutcome, WrittenEvent } from '../../../../src/client/events/index.ts';
import { createEventRecorder } from '../../../../src/client/events/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { recordedLog } from '../../base/recorded-log.ts';

const pod = { kind: 'Pod', namespace: 'team', name: 'web', uid: 'u1' } as const;
const happening = { type: 'Warning', reason: 'Broken', message: 'it is broken' } as const;

/** A recorder with a writer that notes what it is given, and fails as `fail` says. */
function recording(t: TestContext) {
  const clock = createManualClock();
  const written: string[] = [];
  const counts: CountedEvent[] = [];
  const names: string[] = [];
  const annotated: Record<string, string>[] = [];
  const outcomes: EventOutcome[] = [];
  const state: { fail?: Error | undefined; there?: WrittenEvent } = {};
  const attempt = () => {
    if (state.fail !== undefined) throw state.fail;
  };
  const recorder = createEventRecorder({
    writer: {
      async create({ involvedObject, count, metadata: { name = '', annotations } = {} }) {
        attempt();
        names.push(name);
        if (annotations !== undefined) annotated.push({ ...annotations });
        if (state.there !== undefined) throw new StatusError('AlreadyExists', 'it is there');
        written.push(`${involvedObject.name} ${count}`);
      },
      read: async () => state.there,
      async countUp(event) {
        counts.push(event);
        attempt();
      },
    },
    maxQueued: 10,
    maxRemembered: 10,
    concurrency: 2,
    clock,
    log: recordedLog().log,
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  const stop = new AbortController();
  const running = recorder.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
  });
  return { recorder, clock, written, counts, names, annotated, outcomes, state };
}

describe('an Event that is to be counted up', () => {
  test('and may have been, when that failed, is counted once all the same', async (t) => {
    const { recorder, clock, counts, state } = recording(t);
    recorder.record('a', pod, happening);
    await clock.advance(0);
    state.fail = new Error('broken off');
    recorder.record('a', pod, happening);
    await clock.advance(0);
    state.fail = undefined;
    await clock.advance(10_000);
    assert.deepEqual(
      counts.map(({ count }) => count),
      [2, 2],
    );
  });

  test('and is refused is made the next time', async (t) => {
    const { recorder, clock, written, outcomes, state } = recording(t);
    recorder.record('a', pod, happening);
    await clock.advance(0);
    state.fail = new StatusError('Invalid', 'what is there is not ours');
    recorder.record('a', pod, happening);
    await clock.advance(0);
    state.fail = undefined;
    recorder.record('a', pod, happening);
    await clock.advance(0);
    assert.deepEqual(written, ['web 1', 'web 1']);
    assert.deepEqual(outcomes, ['written', 'refused', 'written']);
  });
});

test('the same from two components is two Events', async (t) => {
  const { recorder, clock, written } = recording(t);
  recorder.record('a', pod, happening);
  recorder.record('b', pod, happening);
  await clock.advance(0);
  assert.deepEqual(written, ['web 1', 'web 1']);
});

describe('an Event that was written before the start', () => {
  test('has the name that it gets again, and is counted on', async (t) => {
    const first = recording(t);
    first.recorder.record('a', pod, happening);
    await first.clock.advance(0);
    const again = recording(t);
    again.state.there = { count: 7, lastTimestamp: '2024-12-31T23:00:00Z' };
    again.recorder.record('a', pod, happening);
    await again.clock.advance(0);
    again.recorder.record('a', pod, happening);
    await again.clock.advance(0);
    assert.deepEqual(first.names, again.names);
    assert.match(first.names[0] ?? '', /^web\.[0-9a-f]{16}$/);
    assert.deepEqual(
      again.counts.map(({ name, count }) => [name, count]),
      [
        [first.names[0], 8],
        [first.names[0], 9],
      ],
    );
    assert.deepEqual([again.written, again.outcomes], [[], ['written', 'written']]);
  });

  test('keeps the annotations of its first time', async (t) => {
    const { recorder, clock, names, annotated, counts } = recording(t);
    recorder.record('a', pod, { ...happening, annotations: { use: '1' } });
    await clock.advance(0);
    recorder.record('a', pod, { ...happening, annotations: { use: '2' } });
    await clock.advance(0);
    assert.deepEqual([names.length, annotated], [1, [{ use: '1' }]]);
    assert.deepEqual(counts[0]?.count, 2);
  });

  test('of another pod, container, reason or message has another name', async (t) => {
    const { recorder, clock, names } = recording(t);
    recorder.record('a', pod, happening);
    recorder.record('b', pod, happening);
    recorder.record('a', { ...pod, uid: 'u2' }, happening);
    recorder.record('a', { ...pod, fieldPath: 'spec.containers{c}' }, happening);
    recorder.record('a', pod, { ...happening, reason: 'Mended' });
    recorder.record('a', pod, { ...happening, message: 'it is whole' });
    await clock.advance(0);
    assert.equal(new Set(names).size, 6);
  });

  test('is not counted twice when only the answer was lost', async (t) => {
    const { recorder, clock, counts, outcomes, state } = recording(t);
    state.there = { count: 1, lastTimestamp: formatTime(clock.now()) };
    recorder.record('a', pod, happening);
    await clock.advance(0);
    assert.deepEqual([counts, outcomes], [[], ['written']]);
  });
});
