import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ManagerOptions, Service } from '../../../../src/base/index.ts';
import { runServices } from '../../../../src/base/index.ts';
import { heldClock } from '../held-clock.ts';
import { recordedLog } from '../recorded-log.ts';
import type { Actor } from './scripted-services.ts';
import { settle, stage } from './scripted-services.ts';

type Hooks = Pick<ManagerOptions, 'onReady' | 'onStopping'>;

function start(services: readonly (Actor | Service)[], hooks: Hooks = {}, signal?: AbortSignal) {
  const clock = heldClock();
  const { log, text } = recordedLog();
  const controller = new AbortController();
  const plain = services.map((one) => ('service' in one ? one.service : one));
  const done = runServices({ services: plain, log, clock, ...hooks }, signal ?? controller.signal);
  done.catch(() => undefined); // looked at later
  return { done, clock, logged: text, stop: () => controller.abort() };
}

describe('starting', () => {
  test('waits until what a service stands on is ready, and tells when all are', async () => {
    const { story, actor } = stage();
    const lock = actor('lock', { readyAtOnce: false });
    const runtime = actor('runtime', { dependsOn: ['lock'], readyAtOnce: false });
    const server = actor('server', { dependsOn: ['runtime'] });
    const { done, stop } = start([server, runtime, lock], { onReady: () => story.push('all ready') });
    await settle();
    assert.deepEqual(story, ['start lock']);
    lock.ready();
    await settle();
    assert.deepEqual(story, ['start lock', 'start runtime']);
    runtime.ready();
    await settle();
    assert.deepEqual(story, ['start lock', 'start runtime', 'start server', 'all ready']);
    stop();
    await done;
  });

  test('what does not depend on each other starts at the same time', async () => {
    const { story, actor } = stage();
    const { done, stop } = start([actor('a', { readyAtOnce: false }), actor('b', { readyAtOnce: false })]);
    await settle();
    assert.deepEqual(story, ['start a', 'start b']);
    stop();
    await done;
  });

  test('a service may say ready twice', async () => {
    const { actor } = stage();
    let times = 0;
    const one = actor('one');
    const { done, stop } = start([one], { onReady: () => times++ });
    await settle();
    one.ready();
    await settle();
    assert.equal(times, 1);
    stop();
    await done;
  });

  test('a mistake in the web of services is told before anything starts', async () => {
    const { story, actor } = stage();
    const circle = start([actor('a', { dependsOn: ['b'] }), actor('b', { dependsOn: ['a'] })]);
    await assert.rejects(circle.done, /circle: a → b → a/);
    const unknown = start([actor('a', { dependsOn: ['ghost'] })]);
    await assert.rejects(unknown.done, /depends on ghost/);
    assert.deepEqual(story, []);
  });
});

describe('stopping', () => {
  test('goes in reverse, each after all that stand on it have ended', async () => {
    const { story, actor } = stage();
    const cleaning = Promise.withResolvers<void>();
    const lock = actor('lock');
    const runtime = actor('runtime', { dependsOn: ['lock'] });
    const lease = actor('lease', { dependsOn: ['lock'], cleanUp: () => cleaning.promise });
    const server = actor('server', { dependsOn: ['runtime'] });
    const hooks = { onStopping: () => story.push('stopping') };
    const { done, stop } = start([lock, runtime, lease, server], hooks);
    await settle();
    story.length = 0;
    stop();
    await settle();
    assert.equal(story[0], 'stopping');
    assert.ok(story.indexOf('end server') < story.indexOf('stop runtime'));
    assert.ok(story.includes('end runtime'));
    assert.ok(!story.includes('stop lock'), 'the lease still cleans up');
    cleaning.resolve();
    await done;
    assert.deepEqual(story.slice(-3), ['end lease', 'stop lock', 'end lock']);
  });

  test('during the start ends what runs and starts nothing more; ready is never told', async () => {
    const { story, actor } = stage();
    const lock = actor('lock', { readyAtOnce: false });
    const server = actor('server', { dependsOn: ['lock'] });
    const { done, stop } = start([lock, server], { onReady: () => story.push('all ready') });
    await settle();
    stop();
    lock.ready();
    await done;
    assert.deepEqual(story, ['start lock', 'stop lock', 'end lock']);
  });

  test('before the start starts nothing', async () => {
    const { story, actor } = stage();
    const hooks = { onStopping: () => story.push('stopping'), onReady: () => story.push('all ready') };
    await start([actor('a')], hooks, AbortSignal.abort()).done;
    assert.deepEqual(story, ['stopping']);
  });

  test('told twice is told once', async () => {
    const { story, actor } = stage();
    const { done, stop } = start([actor('a')], { onStopping: () => story.push('stopping') });
    await settle();
    stop();
    stop();
    await done;
    stop();
    assert.deepEqual(story, ['start a', 'stopping', 'stop a', 'end a']);
  });

  test('a service that fails while it stops does not hinder the others and is only logged', async () => {
    const { story, actor } = stage();
    const cleanUp = () => Promise.reject(new Error('cannot flush'));
    const services = [actor('lock'), actor('store', { dependsOn: ['lock'], cleanUp })];
    const { done, stop, logged } = start(services);
    await settle();
    stop();
    await done;
    assert.deepEqual(story.slice(-2), ['stop lock', 'end lock']);
    assert.match(logged(), /failed while stopping: cannot flush/);
  });

  test('an AbortError is the usual way to end and is not even logged', async () => {
    const sleeper: Service = {
      name: 'sleeper',
      dependsOn: [],
      onFailure: 'stop',
      run: (signal, ready) =>
        new Promise((_, reject) => {
          ready();
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    };
    const { done, stop, logged } = start([sleeper]);
    await settle();
    stop();
    await done;
    assert.doesNotMatch(logged(), /failed/);
  });

  test('what goes wrong in telling of the stop does not hinder it', async () => {
    const { actor } = stage();
    const onStopping = () => {
      throw new Error('nobody listens');
    };
    const { done, stop, logged } = start([actor('a')], { onStopping });
    await settle();
    stop();
    await done;
    assert.match(logged(), /nobody listens/);
  });
});

describe('a failure that means stop', () => {
  test('stops all in order and is what the whole fails with', async () => {
    const { story, actor } = stage();
    const lock = actor('lock');
    const store = actor('store', { dependsOn: ['lock'] });
    const server = actor('server', { dependsOn: ['store'] });
    const { done } = start([lock, store, server]);
    await settle();
    story.length = 0;
    store.fail(new Error('disk is gone'));
    await assert.rejects(done, /disk is gone/);
    assert.deepEqual(story, ['stop server', 'end server', 'stop lock', 'end lock']);
  });

  test('the first of several is told, the others are logged', async () => {
    const { actor } = stage();
    const first = actor('first');
    const second = actor('second', { dependsOn: ['first'] });
    const { done, logged } = start([first, second]);
    await settle();
    first.fail(new Error('one'));
    second.fail(new Error('two'));
    await assert.rejects(done, { message: 'one' });
    assert.match(logged(), /failed too: two/);
  });

  test('to return without being told to is one', async () => {
    const { actor } = stage();
    const early = actor('early');
    const { done } = start([early]);
    await settle();
    early.leave();
    await assert.rejects(done, /early ended without being told to/);
  });

  test('before it was ready keeps what waits for it from starting', async () => {
    const { story, actor } = stage();
    const lock = actor('lock', { readyAtOnce: false });
    const { done } = start([lock, actor('server', { dependsOn: ['lock'] })]);
    await settle();
    lock.fail(new Error('held by 42'));
    await assert.rejects(done, /held by 42/);
    assert.deepEqual(story, ['start lock']);
  });

  test('run may throw at once, and may throw nothing', async () => {
    const thrower: Service = {
      name: 'thrower',
      dependsOn: [],
      onFailure: 'stop',
      run: () => {
        throw new Error('at once');
      },
    };
    await assert.rejects(start([thrower]).done, /at once/);
    const mute: Service = { ...thrower, name: 'mute', run: () => Promise.reject(undefined) };
    await assert.rejects(start([mute]).done, /mute failed without saying why/);
  });

  test('a failure in telling that all are ready is one', async () => {
    const { story, actor } = stage();
    const onReady = () => {
      throw new Error('cannot tell');
    };
    await assert.rejects(start([actor('a')], { onReady }).done, /cannot tell/);
    assert.deepEqual(story, ['start a', 'stop a', 'end a']);
  });
});

describe('a failure that means restart', () => {
  test('starts the service again with growing waits while those that stand on it go on', async () => {
    const { story, actor } = stage();
    const child = actor('child', { onFailure: 'restart' });
    const server = actor('server', { dependsOn: ['child'] });
    const { done, stop, clock, logged } = start([child, server]);
    await settle();
    story.length = 0;
    const waits: number[] = [];
    for (let attempt = 0; attempt < 4; attempt++) {
      child.fail(new Error('killed'));
      await settle();
      const [waitMs = 0] = clock.asleepMs;
      waits.push(waitMs);
      clock.advance(waitMs);
      await settle();
    }
    assert.deepEqual(story, Array(4).fill('start child'));
    for (const [index, waitMs] of waits.entries()) {
      const fullMs = 200 * 2 ** index;
      assert.ok(waitMs <= fullMs && waitMs >= fullMs * 0.8, `wait ${index}: ${waitMs} ms`);
    }
    assert.match(logged(), /failed, starting it again: killed/);
    stop();
    await done;
  });

  test('the waits begin anew after it ran well for long', async () => {
    const { actor } = stage();
    const child = actor('child', { onFailure: 'restart' });
    const { done, stop, clock } = start([child]);
    await settle();
    for (let attempt = 0; attempt < 5; attempt++) {
      child.fail(new Error('killed'));
      await settle();
      clock.advance(clock.asleepMs[0] ?? 0);
      await settle();
    }
    clock.advance(60_000);
    child.fail(new Error('killed'));
    await settle();
    assert.ok((clock.asleepMs[0] ?? 0) <= 200);
    stop();
    await done;
  });

  test('a stop does not wait for the backoff', async () => {
    const { actor } = stage();
    const child = actor('child', { onFailure: 'restart' });
    const { done, stop, clock } = start([child]);
    await settle();
    child.fail(new Error('killed'));
    await settle();
    assert.equal(clock.asleepMs.length, 1);
    stop();
    await done;
  });

  test('before it was ready only delays those that wait for it', async () => {
    const { story, actor } = stage();
    const child = actor('child', { onFailure: 'restart', readyAtOnce: false });
    const { done, stop, clock } = start([child, actor('server', { dependsOn: ['child'] })]);
    await settle();
    child.fail(new Error('not yet'));
    await settle();
    clock.advance(1000);
    await settle();
    child.ready();
    await settle();
    assert.deepEqual(story, ['start child', 'start child', 'start server']);
    stop();
    await done;
  });

  test('a run that is over cannot say ready for the next one', async () => {
    const { story, actor } = stage();
    const child = actor('child', { onFailure: 'restart', readyAtOnce: false });
    const { done, stop } = start([child, actor('server', { dependsOn: ['child'] })]);
    await settle();
    child.fail(new Error('gone'));
    await settle();
    child.ready();
    await settle();
    assert.deepEqual(story, ['start child']);
    stop();
    await done;
  });

  test('while the whole stops neither starts it again nor fails the whole', async () => {
    const { story, actor } = stage();
    const cleaning = Promise.withResolvers<void>();
    const child = actor('child', { onFailure: 'restart' });
    const server = actor('server', { dependsOn: ['child'], cleanUp: () => cleaning.promise });
    const { done, stop, logged } = start([child, server]);
    await settle();
    stop();
    child.fail(new Error('gone already'));
    await settle();
    cleaning.resolve();
    await done;
    assert.equal(story.filter((step) => step === 'start child').length, 1);
    assert.match(logged(), /failed while stopping: gone already/);
  });
});

test('many services bring no warning about listeners', async (t) => {
  const warnings: string[] = [];
  const note = (warning: Error) => void warnings.push(warning.message);
  process.on('warning', note);
  t.after(() => process.off('warning', note));
  const { actor } = stage();
  const { done, stop } = start(Array.from({ length: 40 }, (_, index) => actor(`s${index}`)));
  await settle();
  stop();
  await done;
  assert.deepEqual(warnings, []);
});
