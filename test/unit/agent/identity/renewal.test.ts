import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RenewalOptions } from '../../../../src/agent/identity/renewal.ts';
import { renewalService } from '../../../../src/agent/identity/renewal.ts';
import { createLatest } from '../../../../src/base/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { recordedLog } from '../../base/recorded-log.ts';
import type { More } from './pki.ts';
import { createTestAuthority, dayMs } from './pki.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const clockStart = createManualClock().now();
const authority = await createTestAuthority('test-ca', clockStart);
const certificate = async (more: More = {}) =>
  (await authority.issue('node', [], 'server', { now: clockStart, ...more })).cert;

/** Runs a renewal; `script` says what each look gives, the last one for good. */
function run(script: readonly (string | Error)[], options: Partial<RenewalOptions> = {}) {
  const clock = createManualClock();
  const stop = new AbortController();
  const { log, text } = recordedLog();
  const seen = { looks: 0, ready: 0 };
  const service = renewalService({
    name: 'identity',
    dependsOn: [],
    clock,
    log,
    async refresh() {
      const next = script[Math.min(seen.looks, script.length - 1)];
      seen.looks += 1;
      if (next instanceof Error) throw next;
      return next === undefined ? [] : [next];
    },
    readyAfterFirst: true,
    retry: { initialMs: 1000, maxMs: 8000 },
    ...options,
  });
  const ended = service.run(stop.signal, () => {
    seen.ready += 1;
  });
  return {
    clock,
    seen,
    log: text,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

describe('certificates are looked at', () => {
  test('at once, then every hour', async () => {
    await using running = run([await certificate()]);
    await running.clock.advance(hourMs - 1);
    assert.deepEqual(running.seen, { looks: 1, ready: 1 });
    await running.clock.advance(1);
    assert.equal(running.seen.looks, 2);
    await running.clock.advance(10 * hourMs);
    assert.equal(running.seen.looks, 12);
  });

  test('earlier where one is due earlier', async () => {
    await using running = run([await certificate({ lifetimeMs: 25 * minuteMs }), await certificate()]);
    await running.clock.advance(14 * minuteMs);
    assert.equal(running.seen.looks, 1);
    await running.clock.advance(3 * minuteMs); // a third of 30 minutes is left after 15
    assert.equal(running.seen.looks, 2);
  });

  test('once a minute at most while one stays due', async () => {
    await using running = run([await certificate({ lifetimeMs: minuteMs })]);
    await running.clock.advance(10 * minuteMs);
    assert.ok(running.seen.looks <= 11, `${running.seen.looks} looks`);
  });

  for (const [when, byMs] of [
    ['forwards', 25 * dayMs],
    ['backwards', -25 * dayMs],
  ] as const) {
    test(`within seconds when the wall clock is set ${when}`, async () => {
      await using running = run([await certificate(), await certificate({ now: clockStart + byMs })]);
      await running.clock.advance(10 * minuteMs);
      running.clock.setWall(byMs);
      await running.clock.advance(6000);
      assert.equal(running.seen.looks, 2);
    });
  }

  test('at once when something has changed, also while it looks', async () => {
    const changes = createLatest<string>();
    const looking = Promise.withResolvers<void>();
    const cert = await certificate();
    let looks = 0;
    await using running = run([], {
      changes,
      async refresh() {
        looks += 1;
        if (looks === 2) await looking.promise;
        return [cert];
      },
    });
    await running.clock.advance(0);
    changes.set('one');
    await running.clock.advance(0);
    assert.equal(looks, 2);
    changes.set('two');
    looking.resolve();
    await running.clock.advance(0);
    assert.equal(looks, 3);
    await running.clock.advance(10 * minuteMs);
    assert.equal(looks, 3);
  });
});

describe('a look that fails', () => {
  test('is tried again with longer and longer pauses, and told', async () => {
    await using running = run([new Error('the control plane is away')]);
    await running.clock.advance(0);
    assert.match(running.log(), /no certificate for now: the control plane is away/);
    await running.clock.advance(hourMs);
    const { looks } = running.seen;
    assert.ok(looks > 400 && looks < 700, `${looks} looks in an hour, 8 s apart with jitter`);
    assert.equal(running.seen.ready, 0);
  });

  test('is ready as soon as one has succeeded', async () => {
    await using running = run([new Error('away'), new Error('away'), await certificate()]);
    await running.clock.advance(minuteMs);
    assert.deepEqual(running.seen, { looks: 3, ready: 1 });
  });

  test('does not keep others waiting where a peer is needed', async () => {
    await using running = run([new Error('away')], { readyAfterFirst: false });
    assert.equal(running.seen.ready, 1);
  });
});

test('it stops in the middle of a look', async () => {
  await using running = run([], { refresh: () => new Promise(() => undefined) });
  await running.clock.advance(hourMs);
});
