/** What clients of a server are told while its etcd is away as a whole, and that all is well once it is back. */
// lane: waiting (for the deadlines of requests to a store that does not answer)
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import type { ApiClient, RawAnswer } from '../../src/client/index.ts';
import { ApiClient as Client, clientOptionsOf, readKubeconfig } from '../../src/client/index.ts';
import { temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { LabEtcd } from './lab/index.ts';
import { startEtcd } from './lab/index.ts';
import { startApiServer } from './nodeward/index.ts';
import type { Probe } from './several-servers/requests.ts';
import { fromMemory, needingTheStore } from './several-servers/requests.ts';

before(ensureBuilt);

/** The longest that an answer may take: a call of etcd, and then what it waits for a write to be told. */
const boundMs = 25_000;

const place = { namespace: 'default' };

interface Fault {
  readonly name: string;
  begin(etcd: LabEtcd): unknown;
  end(etcd: LabEtcd): unknown;
}

const faults: readonly Fault[] = [
  {
    name: 'is killed',
    begin: ({ members }) => Promise.all(members.map((member) => member.kill9())),
    end: ({ members }) => Promise.all(members.map((member) => member.start())),
  },
  {
    name: 'hangs',
    begin: ({ members }) => members.forEach((member) => void member.freeze()),
    end: ({ members }) => members.forEach((member) => void member.thaw()),
  },
];

test('while etcd is away', { timeout: 240_000 }, async (t) => {
  await using etcd = await startEtcd();
  await using home = await temporaryFolder('etcd-away-');
  const args = ['--storage', 'etcd', '--etcd-servers', etcd.urls.join()];
  await using server = await startApiServer(join(home.path, 'root'), { args });
  const options = { ...clientOptionsOf(await readKubeconfig(server.kubeconfig)), connections: 64 };
  await using client = new Client(options);
  await using watching = new Client(options);
  const stop = new AbortController();
  using _stopped = { [Symbol.dispose]: () => stop.abort() };
  const heard = await listening(watching, stop.signal);
  await client.create(configMapKind, { metadata: { name: 'before-all', ...place } });
  await waitFor('the watch to have begun', () => heard.names.includes('before-all'));

  for (const fault of faults) {
    const mark = fault.name.replaceAll(' ', '-');
    await t.test(`(it ${fault.name})`, async (part) => {
      await restored(client);
      await fault.begin(etcd);
      try {
        const memory = await Promise.all(fromMemory.map((probe) => timed(client, probe)));
        for (const { probe, answer, ms } of memory) {
          assert.ok([200, 201].includes(answer.code), `${probe.title}: ${answer.code} ${answer.body}`);
          assert.ok(ms < 5_000, `${probe.title} took ${ms} ms`);
        }
        const needing = await Promise.all(needingTheStore(mark).map((probe) => timed(client, probe)));
        for (const { probe, answer, ms } of needing) {
          const told = `${probe.title}: ${answer.code} after ${Math.round(ms)} ms: ${answer.body}`;
          assert.ok([503, 504].includes(answer.code), told);
          assert.ok((answer.retryAfterSeconds ?? 0) >= 1, `${told} has no Retry-After`);
          assert.ok(ms < boundMs, told);
        }
        part.diagnostic(`the slowest answer took ${Math.round(Math.max(...needing.map(({ ms }) => ms)))} ms`);
        const ready = await client.request({ method: 'GET', path: '/readyz' });
        assert.equal(ready.code, 500);
        assert.match(ready.body, /\[-\]storage failed/);
      } finally {
        await fault.end(etcd);
      }
      assert.equal(server.process.exit, undefined);
      await untilReady(client);
      await client.create(configMapKind, { metadata: { name: `after-${mark}`, ...place } });
      await waitFor('the watch to hear of it', () => heard.names.includes(`after-${mark}`));
      const made = heard.names.filter((name) => name === `made-${mark}`);
      assert.ok(made.length <= 1, 'what was told as unknown was done once at most');
    });
  }

  assert.equal(heard.restarts, 0, 'the watch was never ended');
});

test('thousands of requests to a server whose etcd hangs are refused or answered, and leave nothing behind', {
  timeout: 120_000,
}, async (t) => {
  await using etcd = await startEtcd();
  await using home = await temporaryFolder('etcd-away-');
  const args = ['--storage', 'etcd', '--etcd-servers', etcd.urls.join()];
  await using server = await startApiServer(join(home.path, 'root'), { args });
  const options = {
    ...clientOptionsOf(await readKubeconfig(server.kubeconfig)),
    connections: 500,
    connectTimeoutMs: 60_000,
  };
  await using client = new Client(options);
  const path = '/api/v1/namespaces/default/configmaps';
  t.diagnostic(`resident: ${await residentKb(server.process.pid)} kB before`);
  etcd.members[0]?.freeze();
  const asked = Array.from({ length: 1_000 }, (_, index) => {
    const body = JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: `n-${index}` } });
    return client.request(
      index % 2 === 0
        ? { method: 'POST', path, body, timeoutMs: 60_000 }
        : { method: 'GET', path, timeoutMs: 60_000 },
    );
  });
  const answers = await Promise.all(asked);
  t.diagnostic(`resident: ${await residentKb(server.process.pid)} kB while it hangs`);
  const codes = Map.groupBy(answers, ({ code }) => code);
  t.diagnostic([...codes].map(([code, { length }]) => `${code}: ${length}`).join(', '));
  assert.deepEqual(
    [...codes.keys()].filter((code) => ![429, 503, 504].includes(code)),
    [],
  );
  etcd.members[0]?.thaw();
  await untilReady(client);
  t.diagnostic(`resident: ${await residentKb(server.process.pid)} kB when it is back`);
  const { body } = await client.request({ method: 'GET', path: '/metrics' });
  const waiting = [...body.matchAll(/^apiserver_current_inqueue_requests\{.*\} (\d+)$/gm)];
  for (const [line, count] of waiting) assert.equal(count, '0', line);
  const { items } = await client.list(configMapKind, place);
  const written = items.filter(({ metadata }) => metadata?.name?.startsWith('n-')).length;
  const perhaps = answers.filter(({ code }) => code === 504).length;
  assert.ok(written <= perhaps, `${written} are there, of ${perhaps} that nobody knew`);
});

async function timed(client: ApiClient, probe: Probe) {
  const { title, ...request } = probe;
  const begunMs = performance.now();
  const answer: RawAnswer = await client.request({ ...request, timeoutMs: 60_000 });
  return { probe, answer, ms: performance.now() - begunMs };
}

/** What the requests are about is as they expect it. */
async function restored(client: ApiClient): Promise<void> {
  const path = '/api/v1/namespaces/default/configmaps';
  await client.request({ method: 'DELETE', path: `${path}/probe` });
  await client.create(configMapKind, { metadata: { name: 'probe', ...place }, data: { at: 'first' } });
}

async function untilReady(client: ApiClient): Promise<void> {
  const isReady = async () => (await client.request({ method: 'GET', path: '/readyz' })).code === 200;
  await waitFor('the server to be ready again', isReady, { timeoutMs: 60_000, intervalMs: 200 });
}

async function listening(client: ApiClient, signal: AbortSignal) {
  const { metadata } = await client.list(configMapKind, place);
  const heard = { names: [] as string[], restarts: 0 };
  async function listen(): Promise<void> {
    const resourceVersion = metadata?.resourceVersion ?? '';
    for await (const { type, object } of client.watch(configMapKind, { ...place, resourceVersion, signal })) {
      if (type === 'ADDED') heard.names.push(object.metadata?.name ?? '');
    }
    if (!signal.aborted) heard.restarts += 1;
  }
  listen().catch(() => {
    if (!signal.aborted) heard.restarts += 1;
  });
  return heard;
}

/** What a process holds in memory, for whoever reads the test's report. */
async function residentKb(pid: number): Promise<string> {
  return /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 'unknown';
}
