import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LeaseOptions } from '../../../../../src/agent/node/lease/index.ts';
import { createLeaseService } from '../../../../../src/agent/node/lease/index.ts';
import { leaseKind, StatusError } from '../../../../../src/api/index.ts';
import { createMetrics } from '../../../../../src/base/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import type { FakeApi } from '../fake-api.ts';
import { createFakeApi, UnreachableError } from '../fake-api.ts';
import { recordingLog } from '../samples.ts';

const name = 'node-a';

/** A lease service that runs against a server in memory until it is disposed of. */
async function start(change: Partial<LeaseOptions> = {}, prepare: (api: FakeApi) => void = () => undefined) {
  const clock = createManualClock();
  const api = createFakeApi(clock);
  const { log, lines } = recordingLog();
  prepare(api);
  const service = createLeaseService({
    nodeName: name,
    nodeUid: () => 'uid-of-the-node',
    api,
    clock,
    log,
    random: () => 0.5,
    uptimeMs: clock.uptimeMs,
    ...change,
  });
  const stop = new AbortController();
  const running = service.run(stop.signal, () => undefined);
  await clock.advance(0);
  return {
    clock,
    api,
    lines,
    service,
    lease: () => api.read(leaseKind, name),
    writes: () => api.calls.filter((call) => call.verb !== 'get'),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      assert.equal(clock.sleepers, 0, 'nobody sleeps any more');
    },
  };
}

const unreachable = () => {
  throw new UnreachableError('connect ECONNREFUSED 127.0.0.1:6443');
};

const verbs = (api: FakeApi, from = 0) => api.calls.slice(from).map((call) => call.verb);
const gaps = (times: readonly number[]) => times.slice(1).map((time, index) => time - (times[index] ?? 0));

describe('the lease', () => {
  test('is made at once, owned by the node', async () => {
    await using agent = await start();
    const { metadata, spec } = agent.lease();
    assert.equal(metadata?.namespace, 'kube-node-lease');
    assert.deepEqual(metadata?.ownerReferences, [
      { apiVersion: 'v1', kind: 'Node', name, uid: 'uid-of-the-node' },
    ]);
    assert.deepEqual(spec, {
      holderIdentity: name,
      leaseDurationSeconds: 40,
      renewTime: '2025-01-01T00:00:00.000000Z',
    });
  });

  test('is renewed every ten seconds by one PUT each', async () => {
    await using agent = await start();
    const from = agent.api.calls.length;
    await agent.clock.advance(60_000);
    assert.deepEqual(verbs(agent.api, from), Array(6).fill('replace'));
    assert.equal(agent.lease().spec?.renewTime, '2025-01-01T00:01:00.000000Z');
    assert.deepEqual(agent.lines, [], 'nothing to say');
  });

  test('of an earlier run is taken over with what others wrote into it', async () => {
    await using agent = await start({}, (api) => {
      void api.create(leaseKind, {
        metadata: {
          name,
          labels: { team: 'blue' },
          ownerReferences: [
            { apiVersion: 'v1', kind: 'Node', name, uid: 'uid-of-an-older-node' },
            { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: 'u' },
          ],
        },
        spec: { holderIdentity: 'someone', leaseTransitions: 3 },
      });
    });
    const { metadata, spec } = agent.lease();
    assert.equal(metadata?.labels?.['team'], 'blue');
    assert.deepEqual(
      metadata?.ownerReferences?.map((owner) => owner.uid),
      ['u', 'uid-of-the-node'],
    );
    assert.equal(spec?.holderIdentity, name);
    assert.equal(spec?.leaseTransitions, 3);
  });

  test('gets its owner once the node is known, and a new one when the node is made anew', async () => {
    let uid: string | undefined;
    await using agent = await start({ nodeUid: () => uid });
    assert.equal(agent.lease().metadata?.ownerReferences, undefined);
    for (const next of ['first', 'second']) {
      uid = next;
      await agent.clock.advance(10_000);
      assert.deepEqual(
        agent.lease().metadata?.ownerReferences?.map((owner) => owner.uid),
        [next],
      );
    }
  });

  test('that was changed by another is read again and renewed in the same breath', async () => {
    await using agent = await start();
    agent.api.edit(leaseKind, name, (lease) => ({
      ...lease,
      metadata: { ...lease.metadata, labels: { mine: 'yes' } },
    }));
    const from = agent.api.calls.length;
    await agent.clock.advance(10_000);
    assert.deepEqual(verbs(agent.api, from), ['replace', 'get', 'replace']);
    assert.equal(agent.lease().metadata?.labels?.['mine'], 'yes');
    assert.equal(agent.service.heartbeat().failures, 0);
  });

  test('that was deleted is made anew in the same breath', async () => {
    await using agent = await start();
    agent.api.remove(leaseKind, name);
    const from = agent.api.calls.length;
    await agent.clock.advance(10_000);
    assert.deepEqual(verbs(agent.api, from), ['replace', 'create']);
    assert.equal(agent.lease().spec?.holderIdentity, name);
  });

  test('waits for its namespace', async () => {
    await using agent = await start({}, (api) => api.namespaces.clear());
    await agent.clock.advance(5000);
    assert.match(agent.service.heartbeat().lastError ?? '', /namespaces "kube-node-lease" not found/);
    agent.api.namespaces.add('kube-node-lease');
    await agent.clock.advance(7000);
    assert.equal(agent.lease().spec?.holderIdentity, name);
  });
});

describe('the schedule', () => {
  test('does not drift by the time that requests take', async () => {
    await using agent = await start();
    agent.api.before = () => agent.clock.sleep(1500);
    await agent.clock.advance(105_000);
    const times = agent.writes().map((call) => call.atMs);
    assert.deepEqual(gaps(times), Array(10).fill(10_000));
  });

  test('is deaf to the wall clock, which is logged once when it was set', async () => {
    await using agent = await start();
    await agent.clock.advance(5000);
    agent.clock.setWall(-86_400_000);
    await agent.clock.advance(25_000);
    const times = agent.writes().map((call) => call.atMs);
    assert.deepEqual(gaps(times), [10_000, 10_000, 10_000]);
    assert.equal(agent.lease().spec?.renewTime, '2024-12-31T00:00:30.000000Z');
    assert.deepEqual(agent.lines, [
      'warn: the wall clock was set back by 86400.0 s; heartbeats keep their pace',
    ]);
  });

  test('tells that the machine slept, and that the heartbeat was late for it', async () => {
    await using agent = await start();
    await agent.clock.advance(15_000);
    agent.clock.suspend(3_600_000);
    await agent.clock.advance(25_000);
    assert.deepEqual(agent.lines, [
      'warn: the machine slept for 3600.0 s',
      'warn: heartbeat late by 3600.0 s because the machine slept for 3600.0 s',
    ]);
    assert.equal(agent.service.heartbeat().lateCount, 1);
    assert.deepEqual(
      agent.service.remarks(),
      agent.lines.map((line) => line.replace('warn: ', '')),
    );
    await agent.clock.advance(300_000);
    assert.deepEqual(agent.service.remarks(), [], 'five minutes later it is past');
  });

  test('a slow server is told once until it is swift again, and all is counted', async () => {
    const metrics = createMetrics();
    await using agent = await start({ metrics });
    agent.api.before = () => agent.clock.sleep(4000);
    await agent.clock.advance(60_000);
    assert.deepEqual(agent.lines, ['warn: the API server takes 4.0 s for a heartbeat']);
    assert.deepEqual(agent.service.remarks(), ['the API server takes 4.0 s for a heartbeat']);
    agent.api.before = () => undefined;
    await agent.clock.advance(20_000);
    agent.api.before = () => agent.clock.sleep(3000);
    await agent.clock.advance(20_000);
    assert.equal(agent.lines.length, 2);
    agent.api.before = () => undefined;
    agent.clock.setWall(-60_000);
    await agent.clock.advance(20_000);
    const counted = await metrics.getSingleMetricAsString('nodeward_heartbeat_troubles_total');
    assert.match(counted, /kind="slow_server"\} 2\n/);
    assert.match(counted, /kind="clock_jump"\} 1/);
  });

  test('goes on at once after the process was stopped, without making up for what was missed', async () => {
    await using agent = await start();
    await agent.clock.advance(10_000);
    const from = agent.writes().length;
    await agent.clock.stall(95_000);
    assert.equal(agent.writes().length - from, 1);
    assert.deepEqual(agent.lines, [
      'warn: heartbeat late by 85.0 s because the agent was held up for 85.0 s',
    ]);
    await agent.clock.advance(30_000);
    assert.equal(agent.writes().length - from, 4);
  });

  test('a lease of another duration is renewed every quarter of it', async () => {
    await using agent = await start({ durationSeconds: 20 });
    await agent.clock.advance(20_000);
    assert.equal(agent.writes().length, 5);
    assert.equal(agent.lease().spec?.leaseDurationSeconds, 20);
  });
});

describe('failures', () => {
  test('are tried again after 200, 400 … 7000 ms, each on a new connection, told once', async () => {
    await using agent = await start();
    agent.api.before = unreachable;
    await agent.clock.advance(60_000);
    const failed = agent.writes().slice(1);
    assert.deepEqual(
      gaps(failed.map((call) => call.atMs)).slice(0, 8),
      [200, 400, 800, 1600, 3200, 6400, 7000, 7000],
    );
    assert.equal(agent.api.resets, failed.length);
    const { failures, lastError, lastSuccess } = agent.service.heartbeat();
    assert.equal(failures, failed.length);
    assert.match(lastError ?? '', /ECONNREFUSED/);
    assert.equal(lastSuccess, Date.parse('2025-01-01T00:00:00Z'));

    agent.api.before = () => undefined;
    await agent.clock.advance(7000);
    assert.equal(agent.service.heartbeat().failures, 0);
    assert.equal(agent.lines.length, 3, agent.lines.join('\n'));
    assert.match(agent.lines[0] ?? '', /^warn: cannot renew the node’s lease, trying on: .*ECONNREFUSED/);
    assert.match(
      agent.lines[1] ?? '',
      /^warn: heartbeat late by \d+\.\d s because \d+ tries failed, the last with: .*ECONNREFUSED/,
    );
    assert.match(agent.lines[2] ?? '', /^info: can renew the node’s lease again/);
  });

  test('begin anew with 200 ms after a success, and the phase is kept', async () => {
    await using agent = await start();
    for (let outage = 0; outage < 3; outage += 1) {
      agent.api.before = unreachable;
      await agent.clock.advance(10_000);
      agent.api.before = () => undefined;
      await agent.clock.advance(20_000);
    }
    const phases = agent.writes().map((call) => (call.atMs - 1000) % 10_000);
    assert.ok(phases.every((phase) => phase < 4000));
    assert.equal(phases.filter((phase) => phase === 200).length, 3);
    assert.equal(phases.at(-1), 0);
  });

  test('a dead connection costs less than one interval', async () => {
    await using agent = await start();
    agent.api.before = () => {
      agent.api.before = () => undefined;
      return new Promise(() => undefined);
    };
    const from = agent.writes().length;
    await agent.clock.advance(16_000);
    assert.deepEqual(
      gaps(
        agent
          .writes()
          .slice(from)
          .map((call) => call.atMs),
      ),
      [5200],
    );
    assert.equal(agent.api.resets, 1);
    assert.equal(agent.service.heartbeat().lateCount, 0);
  });

  test('a server that takes seven seconds for each answer still gets its heartbeats', async () => {
    await using agent = await start();
    agent.api.before = () => agent.clock.sleep(7000);
    await agent.clock.advance(68_000);
    const from = agent.api.calls.length;
    const { failures } = agent.service.heartbeat();
    await agent.clock.advance(100_000);
    assert.equal(failures, 0);
    assert.deepEqual(verbs(agent.api, from), Array(10).fill('replace'));
  });

  test('a link that swallows all for a time, however long: then the next heartbeat comes within an interval', async () => {
    for (let lengthMs = 1000; lengthMs <= 120_000; lengthMs += 1300) {
      await using agent = await start();
      await agent.clock.advance(9000);
      const healedMs = agent.clock.monotonicMs() + lengthMs;
      agent.api.before = () =>
        agent.clock.monotonicMs() < healedMs ? new Promise(() => undefined) : undefined;
      await agent.clock.advance(lengthMs);
      await agent.clock.advanceUntil(
        () => (agent.service.heartbeat().lastSuccessMonotonicMs ?? 0) >= healedMs,
        10_000,
      );
    }
  });

  test('a shorter interval has shorter waits: a dead connection costs no more than one', async () => {
    await using agent = await start({ durationSeconds: 8 });
    agent.api.before = () => {
      agent.api.before = () => undefined;
      return new Promise(() => undefined);
    };
    await agent.clock.advance(20_000);
    assert.equal(agent.service.heartbeat().lateCount, 0);
    agent.api.before = unreachable;
    await agent.clock.advance(30_000);
    const tried = agent.writes().map((call) => call.atMs);
    assert.ok(Math.max(...gaps(tried.slice(-10))) <= 1400, `${gaps(tried.slice(-10))}`);
  });

  test('an answer that was lost is no harm: the next try finds the change', async () => {
    await using agent = await start();
    agent.api.after = () => {
      agent.api.after = () => undefined;
      throw new UnreachableError('socket hang up');
    };
    const from = agent.api.calls.length;
    await agent.clock.advance(11_000);
    assert.deepEqual(verbs(agent.api, from), ['replace', 'replace', 'get', 'replace']);
  });

  for (const [reason, resets] of [
    ['Forbidden', 0],
    ['TooManyRequests', 0],
    ['Invalid', 0],
    ['Unauthorized', 1],
    ['InternalError', 1],
    ['ServiceUnavailable', 1],
  ] as const) {
    test(`${reason} is tried again ${resets ? 'on a new' : 'on the same'} connection`, async () => {
      await using agent = await start();
      agent.api.before = () => {
        agent.api.before = () => undefined;
        throw new StatusError(reason, 'no');
      };
      await agent.clock.advance(11_000);
      assert.equal(agent.api.resets, resets);
      assert.equal(agent.lease().spec?.renewTime, '2025-01-01T00:00:10.200000Z');
    });
  }

  test('endless conflicts are a failure like any other', async () => {
    await using agent = await start();
    agent.api.before = (call) => {
      if (call.verb === 'replace') agent.api.edit(leaseKind, name, (lease) => lease);
    };
    await agent.clock.advance(12_000);
    assert.ok(agent.service.heartbeat().failures > 0);
    agent.api.before = () => undefined;
    await agent.clock.advance(10_000);
    assert.equal(agent.service.heartbeat().failures, 0);
  });

  test('a hung request does not delay the stop, and its connection is left to its owner', async () => {
    const agent = await start();
    agent.api.before = () => new Promise(() => undefined);
    await agent.clock.advance(10_000);
    await agent[Symbol.asyncDispose]();
    assert.equal(agent.api.resets, 0);
  });

  test('are counted', async () => {
    const metrics = createMetrics();
    await using agent = await start({ metrics });
    agent.api.before = unreachable;
    await agent.clock.advance(10_300);
    const text = await metrics.getSingleMetricAsString('nodeward_lease_renewals_total');
    assert.match(text, /result="success"\} 1\n/);
    assert.match(text, /result="failure"\} 2/);
    const last = await metrics.getSingleMetricAsString('nodeward_lease_last_renewal_timestamp_seconds');
    assert.match(last, / 1735689600$/m);
  });
});
