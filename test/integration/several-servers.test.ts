// lane: waiting (for elections after a leader has fallen silent)
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { leaseKind, StatusError } from '../../src/api/index.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import type { ApiClient } from '../../src/client/index.ts';
import { waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import { startEtcd } from './lab/index.ts';
import { leaderOf } from './several-servers/leader.ts';
import { startMembers } from './several-servers/servers.ts';

before(ensureBuilt);

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
      const cached = async () => {
        const { items } = await client.list(configMapKind, { namespace: 'default', resourceVersion: '0' });
        return items.some(({ metadata }) => metadata?.name === 'with-two');
      };
      await waitFor('it to be in memory', cached);
      await etcdTwo.kill9();

      const stale = await client.get(configMapKind, 'with-two', { namespace: 'default' }).catch(codeOf);
      assert.ok(
        stale === 503 || stale === 504,
        `a read that must be fresh is answered ${JSON.stringify(stale)}`,
      );
      const written = await client.create(configMapKind, named('without')).catch(codeOf);
      assert.ok([500, 503, 504].includes(Number(written)), `a write is answered ${JSON.stringify(written)}`);
      assert.ok(await cached(), 'reads at 0 go on');

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
