import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { StatusError } from '../../../src/api/index.ts';
import { createWaker, DeadlineError, withDeadline } from '../../../src/base/index.ts';
import { createOutageLog } from '../../../src/client/index.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { recordingLog } from '../agent/node/samples.ts';

const never = () => new Promise<never>(() => undefined);

describe('a deadline', () => {
  test('passes on what came in time and leaves nothing behind', async () => {
    const clock = createManualClock();
    const { signal } = new AbortController();
    assert.equal(await withDeadline({ clock, timeoutMs: 10, signal }, 'it', async () => 7), 7);
    assert.equal(clock.sleepers, 0);
    const failing = withDeadline({ clock, timeoutMs: 10, signal }, 'it', () =>
      Promise.reject(new Error('no')),
    );
    await assert.rejects(failing, /no/);
    assert.equal(clock.sleepers, 0);
  });

  test('ends a call that ignores its signal, and tells the one that does not', async () => {
    const clock = createManualClock();
    const { signal } = new AbortController();
    let told: AbortSignal | undefined;
    const call = withDeadline({ clock, timeoutMs: 5000, signal }, 'the server', (inner) => {
      told = inner;
      return never();
    });
    const refused = assert.rejects(call, (error) => {
      assert.ok(error instanceof DeadlineError);
      assert.equal(error.message, 'the server did not answer within 5 s');
      return true;
    });
    await clock.advance(5000);
    await refused;
    assert.ok(told?.aborted);
  });

  test('gives up at once when told to, before and during the call', async () => {
    const clock = createManualClock();
    const stop = new AbortController();
    const call = withDeadline({ clock, timeoutMs: 5000, signal: stop.signal }, 'it', never);
    stop.abort(new Error('stopping'));
    await assert.rejects(call, /stopping/);
    await assert.rejects(withDeadline({ clock, timeoutMs: 5, signal: stop.signal }, 'it', never), /stopping/);
    assert.equal(clock.sleepers, 0);
  });
});

describe('an outage', () => {
  test('of a peer that is only starting is nobody’s worry', async () => {
    const clock = createManualClock();
    const { log, lines } = recordingLog();
    const outage = createOutageLog('reach it', clock, log);
    outage.failed(new Error('refused'));
    await clock.advance(1000);
    outage.failed(new Error('refused'));
    outage.succeeded();
    assert.deepEqual(lines, []);
  });

  test('is told once, and its end', async () => {
    const clock = createManualClock();
    const { log, lines } = recordingLog();
    const outage = createOutageLog('reach it', clock, log);
    outage.succeeded();
    for (let turn = 0; turn < 5; turn += 1) outage.failed(new StatusError('Unauthorized', 'who are you'));
    outage.succeeded();
    outage.succeeded();
    assert.equal(lines.length, 2);
    assert.match(lines[0] ?? '', /cannot reach it, trying on: who are you; .*certificate/);
    assert.equal(lines[1], 'info: can reach it again');
  });
});

describe('the node’s credentials need the name system:node:NAME … (the last half misleads here)', () => {
  const told = (message: string) => {
    const { log, lines } = recordingLog();
    const outage = createOutageLog('update it', createManualClock(), log);
    outage.succeeded();
    outage.failed(new StatusError('Forbidden', message));
    return lines.join();
  };

  test('is said to whoever has another name', () => {
    const name =
      'nodes "a" is forbidden: User "jane" cannot patch resource "nodes" in API group "" at the cluster scope';
    assert.match(told(name), /at the cluster scope; the node’s credentials need the name system:node:NAME/);
  });

  test('is not said to a node that asks for what no node may', () => {
    for (const rest of [
      'is not allowed to set the following labels: node-restriction.kubernetes.io/x',
      'User "system:node:a" cannot patch resource "nodes" in API group "" at the cluster scope',
    ])
      assert.doesNotMatch(told(`nodes "a" is forbidden: ${rest}`), /credentials/);
  });
});

describe('a waker', () => {
  test('ends a sleep early, or the next one when nobody sleeps', async () => {
    const clock = createManualClock();
    const { signal } = new AbortController();
    const waker = createWaker(clock);
    const sleeping = waker.sleep(1000, signal);
    waker.wake();
    await sleeping;
    waker.wake();
    waker.wake();
    await waker.sleep(1000, signal);
    let ended = false;
    const third = waker.sleep(1000, signal).then(() => {
      ended = true;
    });
    await clock.advance(999);
    assert.ok(!ended);
    await clock.advance(1);
    await third;
  });

  test('without an end sleeps until it is woken or its signal aborts', async () => {
    const stop = new AbortController();
    const waker = createWaker(createManualClock());
    let ended = 0;
    const sleep = () =>
      waker.sleep(Number.POSITIVE_INFINITY, stop.signal).then(() => {
        ended += 1;
      });
    const first = sleep();
    await setImmediate();
    assert.equal(ended, 0);
    waker.wake();
    await first;
    waker.wake();
    waker.forget();
    const second = sleep();
    await setImmediate();
    assert.equal(ended, 1, 'what was forgotten wakes nobody');
    stop.abort();
    await second;
    await sleep();
    assert.equal(ended, 3);
  });
});
