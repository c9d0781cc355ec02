import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { StatusError } from '../../../../src/api/index.ts';
import type { CountedEvent, EventOutcome } from '../../../../src/client/events/index.ts';
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
  const outcomes: EventOutcome[] = [];
  const state: { fail?: Error | undefined } = {};
  const attempt = () => {
    if (state.fail !== undefined) throw state.fail;
  };
  const recorder = createEventRecorder({
    writer: {
      async create({ involvedObject, count }) {
        attempt();
        written.push(`${involvedObject.name} ${count}`);
      },
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
  return { recorder, clock, written, counts, outcomes, state };
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
