// lane: exclusive (500 nodes heartbeat, and none may be late)
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lease, Node } from '../../src/api/index.ts';
import { leaseKind, nodeKind } from '../../src/api/index.ts';
import type { ApiClient } from '../../src/client/index.ts';
import { createClient } from '../../src/client/index.ts';
import { waitFor } from '../support/index.ts';
import { repetitions } from '../support/repetition.ts';
import { ensureBuilt } from './installation.ts';
import { startEtcd } from './lab/index.ts';
import { startBalancer } from './several-servers/balancer.ts';
import { leaderOf } from './several-servers/leader.ts';
import { startMembers } from './several-servers/servers.ts';
import { SimulatedNode } from './several-servers/simulated-node.ts';

before(ensureBuilt);

const nodeCount = 500;
const heartbeatMs = 5000;
/** More of them show no more in one run; 30 for a long run. */
const kills = repetitions('NODEWARD_SERVER_KILLS', 2);
const betweenKillsMs = 20_000;

test('500 nodes heartbeat while a server is killed every 20 seconds', async (t) => {
  await using etcd = await startEtcd({ members: 1 });
  const args = [
    '--storage',
    'etcd',
    '--etcd-servers',
    etcd.urls.join(),
    '--node-monitor-grace-period',
    '20s',
  ];
  await using members = await startMembers(3, args);
  await using balancer = await startBalancer(() => members.all.map(({ port }) => port));
  const server = `https://127.0.0.1:${balancer.port}`;
  await using client = createClient({ ...members.admin, server, connections: 30 });
  const stop = new AbortController();
  using _stopped = { [Symbol.dispose]: () => stop.abort() };
  const nodes = Array.from({ length: nodeCount }, (_, index) => new SimulatedNode(`node-${index}`));
  for (let from = 0; from < nodeCount; from += 50) {
    await Promise.all(nodes.slice(from, from + 50).map((node) => node.join(client, stop.signal)));
  }
  const running = nodes.map((node) => node.run(client, heartbeatMs, stop.signal));
  const story = observe(createClient({ ...members.admin, server }), stop.signal);
  await waitFor('every node to have renewed', () => nodes.every(({ renewals }) => renewals > 0));

  for (let kill = 0; kill < kills; kill += 1) {
    const { member } = await leaderOf(members.all);
    const victim = kill % 2 === 0 ? member : (members.all.find((other) => other !== member) ?? member);
    await victim.kill9();
    const killedMs = performance.now();
    await victim.start();
    await sleep(Math.max(0, killedMs + betweenKillsMs - performance.now()));
  }
  stop.abort();
  await Promise.all(running);
  await story.ended;

  const { items } = await client.list(leaseKind, { namespace: 'kube-node-lease' });
  const stored = new Map(items.map((lease) => [lease.metadata?.name, lease.spec?.renewTime ?? '']));
  for (const { name, acknowledged } of nodes) {
    assert.ok(
      (stored.get(name) ?? '') >= acknowledged,
      `${name}: ${acknowledged} was answered and is not there`,
    );
  }
  assert.deepEqual(story.unknown, [], 'no node is called Unknown');
  assert.deepEqual(story.backwards, [], 'no lease goes back in time');
  assert.ok(story.renewals > nodeCount, 'renewals were seen');
  assert.deepEqual(
    nodes.flatMap(({ surprises }) => surprises),
    [],
  );
  const sum = (of: (node: SimulatedNode) => number) => nodes.reduce((all, node) => all + of(node), 0);
  t.diagnostic(`${sum(({ renewals }) => renewals)} renewals, ${sum(({ retries }) => retries)} tried again`);
});

/** Follows leases and nodes through whatever server answers, with a relist whenever a watch ends. */
function observe(client: ApiClient, signal: AbortSignal) {
  const story = { renewals: 0, unknown: new Set<string>(), backwards: [] as string[] };
  const newest = new Map<string, string>();

  function see({ metadata, spec }: Lease): void {
    const name = metadata?.name ?? '';
    const renewTime = spec?.renewTime ?? '';
    const before = newest.get(name) ?? '';
    if (renewTime < before) story.backwards.push(`${name}: ${before}, then ${renewTime}`);
    if (renewTime > before) story.renewals += 1;
    newest.set(name, renewTime);
  }

  async function follow<T>(once: () => Promise<T>): Promise<void> {
    while (!signal.aborted) {
      await once().catch(() => undefined);
      await sleep(100, undefined, { signal }).catch(() => undefined);
    }
  }

  const place = { namespace: 'kube-node-lease' };
  const leases = follow(async () => {
    const { items, metadata } = await client.list(leaseKind, { ...place, signal });
    for (const lease of items) see(lease);
    const resourceVersion = metadata?.resourceVersion ?? '';
    for await (const { type, object } of client.watch(leaseKind, { ...place, resourceVersion, signal })) {
      if (type === 'MODIFIED' || type === 'ADDED') see(object);
    }
  });
  const nodes = follow(async () => {
    const { items, metadata } = await client.list(nodeKind, { signal });
    for (const node of items) look(node);
    const resourceVersion = metadata?.resourceVersion ?? '';
    for await (const { type, object } of client.watch(nodeKind, { resourceVersion, signal })) {
      if (type === 'MODIFIED' || type === 'ADDED') look(object);
    }
  });

  function look({ metadata, status }: Node): void {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    if (ready?.status === 'Unknown') story.unknown.add(metadata?.name ?? '');
  }

  return {
    get renewals() {
      return story.renewals;
    },
    get unknown() {
      return [...story.unknown];
    },
    backwards: story.backwards,
    ended: Promise.all([leases, nodes]).finally(() => client.close()),
  };
}
