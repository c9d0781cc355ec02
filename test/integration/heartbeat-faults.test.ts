// lane: exclusive (its time goes five times as fast, so what is late is late five times as soon)
/**
 * Heartbeats while the API and the way to it misbehave: the agent's own services against a real server, over TLS. Their
 * time goes five times as fast, so that 10 seconds between heartbeats are 2. Times below are the agent's.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createNodeStatusService } from '../../src/agent/node/index.ts';
import { createLeaseService } from '../../src/agent/node/lease/index.ts';
import { leaseKind } from '../../src/api/index.ts';
import { ApiClient } from '../../src/client/index.ts';
import type { TestApiServer } from '../../src/testing/index.ts';
import { startApiServer } from '../../src/testing/index.ts';
import { waitFor } from '../support/index.ts';
import {
  createFakeRuntime,
  facts,
  healthy,
  nodeSettings,
  noPressure,
  recordingLog,
  runtimeReady,
} from '../unit/agent/node/samples.ts';
import { fastClock } from '../unit/apiserver/support/index.ts';
import type { Relay } from './heartbeat-faults-relay.ts';
import { startRelay } from './heartbeat-faults-relay.ts';

const speed = 5;
const intervalMs = 10_000;
/** What a busy machine costs; a real second is five of these. */
const slackMs = 4000;
const clock = fastClock(speed);
const namespace = 'kube-node-lease';

let server: TestApiServer;
/** When the server took each renewal, by name of the lease. */
const renewals = new Map<string, number[]>();
const stopWatching = new AbortController();
let watching: Promise<void>;

before(async () => {
  server = await startApiServer();
  const { url, ca, cert, key } = await server.client();
  const admin = new ApiClient({ server: url, ca, cert, key });
  watching = noteRenewals(admin, stopWatching.signal).finally(() => admin.close());
});
after(async () => {
  stopWatching.abort();
  await watching.catch(() => undefined);
  await server.close();
});

async function noteRenewals(api: ApiClient, signal: AbortSignal): Promise<void> {
  for await (const { object } of api.watch(leaseKind, { namespace, signal })) {
    const name = object.metadata?.name ?? '';
    renewals.set(name, [...(renewals.get(name) ?? []), clock.monotonicMs()]);
  }
}

interface World {
  name: string;
  relay: Relay;
  /** Waits for a renewal after now. */
  renewed(): Promise<void>;
  wait(ms: number): Promise<void>;
}

/** Runs lease and status of a node over a relay, lets `story` happen and three intervals pass after it. */
async function play(name: string, story: (world: World) => Promise<void>): Promise<number[]> {
  await using relay = await startRelay(Number(new URL(server.url).port));
  const { ca, cert, key } = await server.client(`system:node:${name}`, ['system:nodes']);
  const options = { server: `https://127.0.0.1:${relay.port}`, ca, cert, key };
  await using forLease = new ApiClient({ ...options, connections: 1 });
  await using forStatus = new ApiClient({ ...options, connections: 2 });
  const { log } = recordingLog();
  const shared = { nodeName: name, clock, log };
  const status = createNodeStatusService({
    ...shared,
    api: forStatus,
    hostname: name,
    runtime: createFakeRuntime(runtimeReady),
    port: () => 10_250,
    facts: async () => facts,
    measure: async () => healthy,
    settings: () => nodeSettings,
    pressures: () => noPressure,
  });
  const lease = createLeaseService({ ...shared, api: forLease, nodeUid: status.nodeUid });
  const stop = new AbortController();
  const running = [status, lease].map((service) => service.run(stop.signal, () => undefined));
  const count = () => renewals.get(name)?.length ?? 0;
  const renewed = async () => {
    const before = count();
    await waitFor(`a renewal of ${name}`, () => count() > before, { timeoutMs: 30_000 });
  };
  const wait = (ms: number) => clock.sleep(ms);
  try {
    await renewed();
    await renewed();
    await story({ name, relay, renewed, wait });
    await wait(3 * intervalMs);
  } finally {
    stop.abort();
    await Promise.all(running);
  }
  return renewals.get(name) ?? [];
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
const gapsOf = (times: readonly number[]) => times.slice(1).map((time, index) => time - (times[index] ?? 0));

/** No heartbeat came more than an interval late: they are 10 s ± 4 % apart. */
function assertOnTime(times: readonly number[]): void {
  const longest = Math.max(...gapsOf(times));
  assert.ok(longest <= 2.04 * intervalMs + slackMs, `${seconds(longest)} without a heartbeat`);
}

/** The answers of the API, to writes of this node's lease. */
const answers = (name: string, status: number, times: number, retryAfterSeconds?: number) =>
  server.faults.answer({
    status,
    times,
    match: { resource: 'leases', name, verb: /update|get/ },
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });

// both groups at once: most of their time is between heartbeats
describe('heartbeats', { concurrency: true }, () => {
  describe('while the server is reachable no heartbeat is more than an interval late:', {
    concurrency: true,
  }, () => {
    for (const [status, times, retryAfterSeconds] of [
      [401, 3],
      [403, 3],
      [404, 2],
      [409, 3],
      [409, 12],
      [429, 2, 1],
      [429, 1, 3600],
      [500, 3],
      [503, 3],
      [503, 1, 30],
      [504, 3],
    ] as const) {
      const wait = retryAfterSeconds === undefined ? '' : `, Retry-After ${retryAfterSeconds}`;
      test(`${times} answers of ${status}${wait}`, async () => {
        const name = `answers-${status}-${times}-${retryAfterSeconds ?? 0}`;
        const gone = await play(name, async ({ renewed }) => {
          using fault = answers(name, status, times, retryAfterSeconds);
          await renewed();
          await waitFor('all of them', () => fault.hits === times);
        });
        assertOnTime(gone);
      });
    }

    test('a server that takes 7 s for each answer', async () => {
      const name = 'slow';
      const gone = await play(name, async ({ wait }) => {
        using fault = server.faults.delay({ ms: 7000 / speed, match: { resource: 'leases', name } });
        await wait(60_000);
        assert.ok(fault.hits >= 4, `${fault.hits}`);
      });
      assertOnTime(gone);
    });

    test('a server that takes 7 s for each answer about the node, and none for the lease', async () => {
      const name = 'slow-status';
      const gone = await play(name, async ({ wait }) => {
        using _fault = server.faults.delay({ ms: 7000 / speed, match: { resource: 'nodes', name } });
        await wait(40_000);
      });
      assertOnTime(gone);
      assert.ok(Math.max(...gapsOf(gone)) <= 1.04 * intervalMs + slackMs, 'the lease has its own connection');
    });

    test('a connection that is dead and does not say so', async () => {
      const gone = await play('half-open', async ({ relay, renewed }) => {
        for (let round = 0; round < 3; round++) {
          relay.forgetConnections();
          await renewed();
        }
      });
      assertOnTime(gone);
    });

    test('connections that are reset when something is asked, now and then', async () => {
      const gone = await play('reset', async ({ relay, renewed, wait }) => {
        for (let round = 0; round < 3; round++) {
          relay.mode = 'reset';
          await wait(12_000);
          relay.mode = 'pass';
          await renewed();
        }
      });
      assert.ok(gone.length > 5);
    });
  });

  describe('after an outage the next heartbeat comes within an interval:', { concurrency: true }, () => {
    for (const mode of ['refuse', 'reset', 'swallow', 'garbage'] as const) {
      for (const lengthMs of [17_000, 23_000, 29_000, 35_000, 47_000]) {
        test(`${mode} for ${seconds(lengthMs)}`, async () => {
          let healedMs = 0;
          const gone = await play(`${mode}-${lengthMs}`, async ({ relay, wait }) => {
            relay.mode = mode;
            relay.forgetConnections();
            await wait(lengthMs);
            relay.mode = 'pass';
            healedMs = clock.monotonicMs();
          });
          const next = gone.find((time) => time > healedMs) ?? Number.POSITIVE_INFINITY;
          const took = next - healedMs;
          assert.ok(took <= intervalMs + slackMs, `${seconds(took)} after it was reachable again`);
          assertOnTime(gone.filter((time) => time > healedMs));
        });
      }
    }
  });
});
