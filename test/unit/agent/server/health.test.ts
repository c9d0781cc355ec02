import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  createLeaseCheck,
  createLockCheck,
  createRuntimeCheck,
  formatHeartbeat,
  selfChecks,
} from '../../../../src/agent/assembly/health-checks.ts';
import type { Heartbeat } from '../../../../src/agent/node/lease/index.ts';
import type { HealthCheck } from '../../../../src/agent/server/index.ts';
import { healthPort, healthRoutes, statuszRoute } from '../../../../src/agent/server/index.ts';
import { ExitError } from '../../../../src/base/index.ts';
import { freePort, waitFor } from '../../../support/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { admin, cluster, connect, startServer } from './running-server.ts';

const failing: HealthCheck = { name: 'lease', check: () => 'the lease is old' };

/** The plain route that every test has is replaced by one with these checks. */
async function asking(checks: readonly HealthCheck[], path: string) {
  await using server = await startServer({ plain: false, more: healthRoutes(checks) });
  using client = await connect(server.port, admin);
  const { code, body, headers } = await client.ask('GET', path);
  assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
  return [code, body];
}

describe('/healthz', () => {
  test('is ok while all is well, and names all checks when asked to', async () => {
    assert.deepEqual(await asking(selfChecks, '/healthz'), [200, 'ok']);
    assert.deepEqual(await asking(selfChecks, '/healthz?verbose'), [
      200,
      '[+]ping ok\n[+]log ok\n[+]syncloop ok\nhealthz check passed\n',
    ]);
  });

  test('is 500 with the failing checks and why', async () => {
    assert.deepEqual(await asking([...selfChecks, failing], '/healthz'), [
      500,
      '[+]ping ok\n[+]log ok\n[+]syncloop ok\n[-]lease failed: the lease is old\nhealthz check failed\n',
    ]);
    assert.deepEqual(await asking([failing], '/healthz?exclude=lease'), [200, 'ok']);
    assert.deepEqual(await asking([failing], '/healthz?exclude=lease&verbose'), [
      200,
      '[+]lease excluded: ok\nhealthz check passed\n',
    ]);
  });

  test('counts those that look at others only when they are asked for by name', async () => {
    const peer = { ...failing, ofPeer: true };
    assert.deepEqual(await asking([...selfChecks, peer], '/healthz'), [200, 'ok']);
    assert.deepEqual(await asking([peer], '/healthz?verbose'), [
      200,
      '[-]lease failed (not counted): the lease is old\nhealthz check passed\n',
    ]);
    assert.deepEqual(await asking([peer], '/healthz/lease'), [
      500,
      '[-]lease failed: the lease is old\nhealthz check failed\n',
    ]);
  });

  test('has each check at a path of its own', async () => {
    for (const name of ['ping', 'log', 'syncloop'])
      assert.deepEqual(await asking([...selfChecks, failing], `/healthz/${name}`), [200, 'ok']);
    assert.equal((await asking([failing], '/healthz/lease'))[0], 500);
    assert.deepEqual(await asking([failing], '/healthz/nothing'), [404, '404 page not found']);
  });
});

describe('the checks', () => {
  test('of the lease: as old as it is good for, and not older', async () => {
    const clock = createManualClock();
    let heartbeat: Heartbeat | undefined;
    const check = createLeaseCheck(() => heartbeat, 40_000, clock);
    await clock.advance(40_000);
    assert.equal(check.ofPeer, true);
    assert.equal(check.check(), undefined);
    await clock.advance(1);
    assert.equal(check.check(), 'the lease has not been renewed for 40 s');
    heartbeat = { ...beating, lastSuccessMonotonicMs: clock.monotonicMs() };
    assert.equal(check.check(), undefined);
    await clock.advance(60_000);
    heartbeat = { ...heartbeat, failures: 9, lastError: 'refused' };
    assert.equal(check.check(), 'the lease has not been renewed for 60 s: refused');
    assert.equal(
      formatHeartbeat(heartbeat, clock),
      'renewed 60 s ago, 9 failed since: refused, 0 times late',
    );
  });

  test('of the lock and the runtime', () => {
    const lost = new AbortController();
    const lock = createLockCheck({ lost: lost.signal });
    assert.equal(lock.check(), undefined);
    lost.abort();
    assert.equal(lock.check(), 'another agent has taken the lock');
    const status = {
      networkReady: true,
      reason: 'X',
      message: 'it is gone',
      version: '',
      name: '',
      endpoint: '',
    };
    assert.equal(createRuntimeCheck({ status: () => ({ ...status, ready: true }) }).check(), undefined);
    assert.equal(createRuntimeCheck({ status: () => ({ ...status, ready: false }) }).check(), 'it is gone');
  });
});

const beating: Heartbeat = {
  lastSuccess: 0,
  lastSuccessMonotonicMs: 0,
  failures: 0,
  lastError: undefined,
  lateCount: 0,
  lastLateReason: undefined,
};

describe('the plain port', () => {
  test('tells without credentials that something is wrong, and not why', async () => {
    const port = await freePort();
    const stop = new AbortController();
    const service = healthPort({ address: '127.0.0.1', port, checks: [failing], dependsOn: [] });
    const ready = Promise.withResolvers<void>();
    const ended = service.run(stop.signal, ready.resolve);
    await ready.promise;
    try {
      const get = async (path: string, method = 'GET') => {
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method });
        return [answer.status, await answer.text()] as const;
      };
      assert.deepEqual(await get('/healthz'), [
        500,
        '[-]lease failed: reason withheld\nhealthz check failed\n',
      ]);
      assert.deepEqual(await get('/healthz?exclude=lease'), [200, 'ok']);
      assert.match((await get('/healthz?verbose&exclude=x'))[1], /no matches for "x"\n/);
      assert.equal((await get('/metrics'))[0], 404);
      assert.equal((await get('/healthz', 'POST'))[0], 405);
    } finally {
      stop.abort();
      await ended;
    }
    await waitFor('the end', () =>
      fetch(`http://127.0.0.1:${port}/healthz`).then(
        () => undefined,
        () => true,
      ),
    );
  });

  test('that is taken ends the agent, and the message names the setting', async () => {
    await using server = await startServer();
    const { port } = server;
    const service = healthPort({ address: '127.0.0.1', port, checks: [], dependsOn: [] });
    await assert.rejects(
      service.run(new AbortController().signal, () => assert.fail('it listens')),
      (error) => error instanceof ExitError && /choose another with healthzPort/.test(error.message),
    );
  });
});

test('/statusz tells people how the agent is, in the form of the reference', async () => {
  const route = statuszRoute({
    startedMs: Date.UTC(2025, 0, 2, 3, 4, 5),
    uptimeMs: () => 3_723_000,
    version: 'v1.2.3',
    lines: [['Heartbeat', () => 'renewed 3 s ago']],
    routes: [
      { path: '/metrics', subresource: 'metrics', methods: {} },
      { path: '/checkpoint/:namespace/:pod', subresource: 'checkpoint', methods: {} },
    ],
  });
  await using server = await startServer({ more: [route] });
  using client = await connect(server.port, admin);
  const { code, body, headers } = await client.ask('GET', '/statusz');
  assert.deepEqual([code, headers['content-type']], [200, 'text/plain; charset=utf-8']);
  assert.match(
    body,
    /^\nnodeward agent statusz\nWarning: This endpoint is not meant to be machine parseable/,
  );
  assert.match(body, /\nStarted: Thu, 02 Jan 2025 03:04:05 GMT\nUp: 1 hr 02 min 03 sec\n/);
  assert.match(
    body,
    /\nBinary version: v1\.2\.3\nHeartbeat: renewed 3 s ago\nPaths: \/checkpoint \/metrics \/statusz\n$/,
  );
  using other = await connect(server.port, await cluster.issue('ann', [], 'client'));
  assert.match((await other.ask('GET', '/statusz')).body, /subresource\(s\)=\[statusz\]\)$/);
});
