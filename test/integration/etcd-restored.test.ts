/** An etcd that is put back to an earlier state, or forgets its history, under running servers. */
import assert from 'node:assert/strict';
import { cp, rm } from 'node:fs/promises';
import { before, test } from 'node:test';
import { isRecord } from '../../src/api/index.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { openStore } from '../../src/apiserver/storage/index.ts';
import type { ApiClient } from '../../src/client/index.ts';
import { waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { EtcdMember } from './lab/index.ts';
import { startEtcd } from './lab/index.ts';
import { startMembers } from './several-servers/servers.ts';

before(ensureBuilt);

const place = { namespace: 'default' };
const path = '/api/v1/namespaces/default/configmaps';

async function backup(member: EtcdMember): Promise<void> {
  await member.stop();
  await cp(member.data, `${member.data}-before`, { recursive: true });
  await member.start();
}

async function restore(member: EtcdMember): Promise<void> {
  await member.kill9();
  await rm(member.data, { recursive: true });
  await cp(`${member.data}-before`, member.data, { recursive: true });
  await member.start();
}

/** Writes so many; the version of the last. */
async function written(client: ApiClient, prefix: string, count: number): Promise<number> {
  let version = 0;
  for (let index = 0; index < count; index += 1) {
    const name = `${prefix}-${index}`;
    const made = await waitFor(
      `${name} to be written`,
      () => client.create(configMapKind, { metadata: { name, ...place } }),
      { timeoutMs: 30_000, intervalMs: 200 },
    );
    version = Number(made.metadata?.resourceVersion);
  }
  return version;
}

/** What a watch from that version says first, or how it is refused. */
async function watchFrom(client: ApiClient, version: number): Promise<string> {
  const answer = await client.request({
    method: 'GET',
    path: `${path}?watch=1&timeoutSeconds=1&resourceVersion=${version}`,
  });
  if (answer.code !== 200) return String(answer.code);
  const first: unknown = answer.body === '' ? {} : JSON.parse(answer.body.split('\n')[0] ?? '');
  assert.ok(isRecord(first));
  const object = isRecord(first['object']) ? first['object'] : {};
  return first['type'] === 'ERROR' ? String(object['code']) : String(first['type'] ?? 'nothing');
}

async function namesIn(client: ApiClient): Promise<readonly string[]> {
  const { items } = await client.list(configMapKind, place);
  return items.map(({ metadata }) => metadata?.name ?? '').filter((name) => /-\d+$/.test(name));
}

test('etcd is put back to an earlier state', { timeout: 200_000 }, async (t) => {
  await using etcd = await startEtcd();
  const [member] = etcd.members;
  assert.ok(member);
  await using members = await startMembers(2, ['--storage', 'etcd', '--etcd-servers', etcd.urls.join()]);
  const [one, two] = members.all;
  assert.ok(one && two);
  await using first = one.client();
  await using second = two.client();
  await written(first, 'kept', 3);
  await backup(member);
  const middle = await written(first, 'lost', 20);
  const last = await written(second, 'lost-too', 20);

  await t.test(
    'under running servers: who watched, or comes from before, is told to list again',
    async () => {
      const stop = new AbortController();
      using _stopped = { [Symbol.dispose]: () => stop.abort() };
      const ended = ends(second, last, stop.signal);
      const chunk = await first.request({ method: 'GET', path: `${path}?limit=2` });
      await restore(member);
      assert.equal(await ended, '410', 'a running watch');
      const again = await written(first, 'again', 2);
      assert.deepEqual(await namesIn(second), ['again-0', 'again-1', 'kept-0', 'kept-1', 'kept-2']);
      for (const client of [first, second]) {
        for (const version of [middle, last]) {
          assert.equal(await watchFrom(client, version), '410', `from ${version}, last written at ${again}`);
        }
      }
      const next = new URLSearchParams({ limit: '2', continue: continueIn(chunk.body) });
      const rest = await first.request({ method: 'GET', path: `${path}?${next}` });
      assert.equal(rest.code, 410, rest.body);
      assert.notEqual(continueIn(rest.body), '', 'with a token that goes on in the newest state');
    },
  );

  await t.test('no version is given twice', async () => {
    await waitFor('the revision to be raised', () => [one, two].some(({ log }) => /was raised/.test(log)), {
      timeoutMs: 30_000,
    });
    assert.ok((await written(second, 'new', 1)) > last);
    await two.kill9();
    await two.start();
    assert.equal(await watchFrom(second, middle), '410', 'on a server that knows nothing of it');
    assert.equal(await watchFrom(second, await written(first, 'newer', 1)), 'nothing');
  });

  await t.test('while no server ran: what is not reached yet is refused', async () => {
    const newest = await written(first, 'never', 5);
    await one.stop();
    await two.stop();
    await restore(member);
    await one.start();
    assert.equal(await watchFrom(first, newest), '410');
    const list = await first.request({ method: 'GET', path: `${path}?resourceVersion=${newest}` });
    assert.equal(list.code, 504, list.body);
  });
});

test('history is compacted under a server that was held up', { timeout: 120_000 }, async () => {
  await using etcd = await startEtcd();
  const [member] = etcd.members;
  assert.ok(member);
  await using members = await startMembers(2, ['--storage', 'etcd', '--etcd-servers', etcd.urls.join()]);
  const [one, two] = members.all;
  assert.ok(one && two);
  await using first = one.client();
  await using second = two.client();
  const old = await written(first, 'old', 5);
  const chunk = await second.request({ method: 'GET', path: `${path}?limit=2` });
  const stop = new AbortController();
  using _stopped = { [Symbol.dispose]: () => stop.abort() };
  const ended = ends(second, old, stop.signal);
  two.freeze();
  member.proxy.reset();
  const newest = await written(first, 'more', 5);
  await using store = await openStore({
    ...{ kind: 'etcd', servers: etcd.urls, compactionIntervalMs: 0 },
    identity: { groupSuffix: 'k8s.io' },
  });
  await store.compact(newest);
  two.thaw();
  const names = await waitFor(
    'the other server to have all',
    async () => {
      const [here, there] = [await namesIn(first), await namesIn(second)];
      assert.deepEqual(there, here);
      return here;
    },
    { timeoutMs: 30_000, intervalMs: 200 },
  );
  assert.ok(names.length > 5);
  assert.equal(await ended, '410', 'the watch through it');
  const next = new URLSearchParams({ limit: '2', continue: continueIn(chunk.body) });
  const rest = await first.request({ method: 'GET', path: `${path}?${next}` });
  assert.equal(rest.code, 410, rest.body);
  const fresh = new URLSearchParams({ limit: '500', continue: continueIn(rest.body) });
  const goneOn = await second.request({ method: 'GET', path: `${path}?${fresh}` });
  assert.equal(goneOn.code, 200, goneOn.body);
  assert.equal(await watchFrom(second, old), '410');
});

/** The code that ends a watch; the stream goes on for as long as none comes. */
async function ends(client: ApiClient, version: number, signal: AbortSignal): Promise<string> {
  try {
    const options = { ...place, resourceVersion: `${version}`, signal };
    for await (const _event of client.watch(configMapKind, options)) if (signal.aborted) break;
    return 'ended';
  } catch (error) {
    return isRecord(error) || error instanceof Error
      ? String((error as { code?: unknown }).code)
      : String(error);
  }
}

function continueIn(body: string): string {
  const value: unknown = JSON.parse(body);
  const metadata = isRecord(value) && isRecord(value['metadata']) ? value['metadata'] : {};
  return String(metadata['continue'] ?? '');
}
