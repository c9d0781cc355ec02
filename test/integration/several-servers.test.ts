import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lease, Node } from '../../src/api/index.ts';
import { leaseKind, nodeKind, StatusError } from '../../src/api/index.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import type { ApiClient } from '../../src/client/index.ts';
import { createClient } from '../../src/client/index.ts';
import { waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import { startEtcd } from './lab/index.ts';
import { repetitions } from './repetition.ts';
import { startBalancer } from './several-servers/balancer.ts';
import type { Member } from './several-servers/servers.ts';
import { startMembers } from './several-servers/servers.ts';
import { SimulatedNode } from './several-servers/simulated-node.ts';

before(ensureBuilt);

const leader = { namespace: 'kube-system', name: 'nodeward-controllers' };

async function leaderOf(members: readonly Member[]): Promise<{ member: Member; holder: string }> {
  return await waitFor(
    'a leader',
    async () => {
      for (const member of members) {
        if (member.isUp && /leading: the controllers run here/.test(member.log)) {
          await using client = member.client();
          const lease = await client.get(leaseKind, leader.name, leader);
          const holder = lease.spec?.holderIdentity;
          if (holder !== undefined && member.log.includes(holder)) return { member, holder };
        }
      }
      return undefined;
    },
    { timeoutMs: 30_000 },
  );
}

test('three servers on one etcd are one control plane', async (t) => {
  await using etcd = await startEtcd({ members: 3, tls: true });
  const { certificates } = etcd;
  assert.ok(certificates);
  await using members = await startMembers(3, [
    ...['--storage', 'etcd', '--etcd-servers', etcd.urls.join()],
    ...['--etcd-cafile', certificates.caFile],
    ...['--etcd-certfile', certificates.certFile, '--etcd-keyfile', certificates.keyFile],
  ]);
  const [one, two, three] = members.all;
  assert.ok(one && two && three);
  await using first = one.client();
  await using second = two.client();
  await using third = three.client();

  await t.test('what is written through one is read through another at once', async () => {
    for (let round = 0; round < 40; round += 1) {
      const object = {
        metadata: { name: `at-once-${round}`, namespace: 'default' },
        data: { round: `${round}` },
      };
      await first.create(configMapKind, object);
      const read = await second.get(configMapKind, object.metadata.name, { namespace: 'default' });
      assert.equal(read.data?.['round'], `${round}`);
      const listed = await third.list(configMapKind, { namespace: 'default', labelSelector: '!none' });
      assert.ok(listed.items.some(({ metadata }) => metadata?.name === object.metadata.name));
    }
  });

  await t.test('a watch hears what is written anywhere, in one order', async () => {
    const stop = new AbortController();
    using _stopped = { [Symbol.dispose]: () => stop.abort() };
    const heard = await Promise.all([first, second, third].map((client) => listening(client, stop.signal)));
    for (let round = 0; round < 90; round += 1) {
      const client = [first, second, third][round % 3] ?? first;
      await client.create(configMapKind, { metadata: { name: `heard-${round}`, namespace: 'default' } });
    }
    await waitFor('all to hear all', () => heard.every(({ names }) => names.length === 90));
    stop.abort();
    await Promise.all(heard.map(({ ended }) => ended));
    const inOrder = Array.from({ length: 90 }, (_, round) => `heard-${round}`);
    for (const { names } of heard) assert.deepEqual(names, inOrder);
  });

  await t.test('each tells the others under which names it serves', async () => {
    const names = await waitFor('three to have told', async () => {
      const { items } = await second.list(leaseKind, { namespace: 'kube-system' });
      const told = items.filter(({ metadata }) => metadata?.name?.startsWith('nodeward-apiserver-'));
      return (
        told.length === 3 && told.map(({ metadata }) => metadata?.annotations?.['nodeward.io/serving-names'])
      );
    });
    for (const each of names) assert.match(each ?? '', /(^|,)127\.0\.0\.1(,|$)/);
  });

  await t.test('the controllers run in one; killed, it is followed; stopped, at once', async () => {
    const { member: killed, holder } = await leaderOf(members.all);
    const clients = [first, second, third];
    await waitFor('one to say that it leads', async () => {
      const said = await Promise.all(clients.map(leads));
      return said.filter(Boolean).length === 1;
    });
    const killedMs = performance.now();
    await killed.kill9();
    const rest = members.all.filter((member) => member !== killed);
    const next = await waitFor(
      'another leader',
      async () => {
        const found = await leaderOf(rest);
        return found.holder !== holder && found;
      },
      { timeoutMs: 60_000 },
    );
    t.diagnostic(`followed ${Math.round(performance.now() - killedMs)} ms after kill -9`);
    await killed.start();

    const stoppedMs = performance.now();
    await next.member.stop();
    const last = members.all.filter((member) => member !== next.member);
    await waitFor('the next', async () => (await leaderOf(last)).holder !== next.holder, {
      timeoutMs: 60_000,
    });
    t.diagnostic(`followed ${Math.round(performance.now() - stoppedMs)} ms after a stop in order`);
    await next.member.start();
  });

  await t.test(
    'with two members of three etcd serves; with one nobody is told a lie, and all comes back',
    async () => {
      const [etcdOne, etcdTwo] = etcd.members;
      assert.ok(etcdOne && etcdTwo);
      await using client = one.client({ timeoutMs: 20_000 });
      await etcdOne.kill9();
      await untilWritten(client, 'with-two');
      await etcdTwo.kill9();

      const stale = await client.get(configMapKind, 'at-once-0', { namespace: 'default' }).catch(codeOf);
      assert.ok(
        stale === 503 || stale === 504,
        `a read that must be fresh is answered ${JSON.stringify(stale)}`,
      );
      const written = await client.create(configMapKind, named('without')).catch(codeOf);
      assert.ok([500, 503, 504].includes(Number(written)), `a write is answered ${JSON.stringify(written)}`);
      const cached = await client.list(configMapKind, { namespace: 'default', resourceVersion: '0' });
      assert.ok(cached.items.length > 40, 'reads at 0 go on');

      await etcdOne.start();
      await etcdTwo.start();
      await untilWritten(client, 'with-three');
      const after = await client.list(configMapKind, { namespace: 'default' });
      const names = after.items.map(({ metadata }) => metadata?.name);
      assert.ok(names.includes('with-two') && names.includes('with-three'));
    },
  );
});

async function leads(client: ApiClient): Promise<boolean> {
  const { body } = await client.request({ method: 'GET', path: '/metrics' });
  return /^leader_election_master_status\{name="nodeward-controllers"\} 1$/m.test(body);
}

function named(name: string) {
  return { metadata: { name, namespace: 'default' } };
}

function codeOf(error: unknown): number {
  assert.ok(error instanceof StatusError, String(error));
  return error.code;
}

/** Written once, however often it is tried. */
async function untilWritten(client: ApiClient, name: string): Promise<void> {
  await waitFor(
    `${name} to be written`,
    async () => {
      await client.create(configMapKind, named(name)).catch((error: unknown) => {
        if (!(error instanceof StatusError && error.reason === 'AlreadyExists')) throw error;
      });
      return true;
    },
    { timeoutMs: 60_000, intervalMs: 200 },
  );
}

async function listening(client: ApiClient, signal: AbortSignal) {
  const { metadata } = await client.list(configMapKind, { namespace: 'default' });
  const names: string[] = [];
  async function listen(): Promise<void> {
    const resourceVersion = metadata?.resourceVersion ?? '';
    for await (const event of client.watch(configMapKind, {
      namespace: 'default',
      resourceVersion,
      signal,
    })) {
      if (event.type === 'ADDED') names.push(event.object.metadata?.name ?? '');
    }
  }
  return { names, ended: listen() };
}

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
