/** `nodeward storage …` against the built program: while a server runs, and while none does. */
import assert from 'node:assert/strict';
import { readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { leaseKind, StatusError } from '../../src/api/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../src/client/index.ts';
import type { CommandResult } from '../support/index.ts';
import { freePort, runCommand, temporaryFolder } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import { curl, program, startApiServer, untilAtRest } from './nodeward/index.ts';

before(ensureBuilt);

const namespace = 'default';

/** As codes of the command: docs/errors.md. */
const exit = { ok: 0, failed: 1, configuration: 3, locked: 4, unwritable: 6 };

describe('nodeward storage', { timeout: 180_000 }, () => {
  test('stats, check, defrag and snapshot are the same with and without a server', async () => {
    await using home = await temporaryFolder('storage-');
    const root = join(home.path, 'root');
    const files = [join(home.path, 'running'), join(home.path, 'stopped')] as const;
    const server = await startApiServer(root);
    await writeLeases(server.kubeconfig, 300);
    await settled(server.kubeconfig); // nothing is written between two looks
    const running = await lookAtAll(root, files[0]);
    const outOfReach = await storage(
      join(home.path, 'elsewhere'),
      'stats',
      '--kubeconfig',
      server.kubeconfig,
    );
    assert.equal(outOfReach.code, exit.ok, 'by its kubeconfig a server is found wherever it is');
    await server.process.stop();
    const stopped = await lookAtAll(root, files[1]);
    assert.deepEqual({ ...stopped, file: '' }, { ...running, file: '' });
    assert.ok(running.objects > 300);
    for (const file of files) assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.deepEqual(await objectsIn(files[0]), await objectsIn(files[1]));
  });

  test('print for people and for programs, to standard output alone', async () => {
    await using home = await temporaryFolder('storage-');
    const root = join(home.path, 'root');
    await using server = await startApiServer(root);
    await writeLeases(server.kubeconfig, 3);
    const stats = await storage(root, 'stats');
    assert.match(stats.stdout, /^revision {6}\d+, readable from \d+$/m);
    assert.match(stats.stdout, /^history {7}.* of at most 256\.0 MiB, 300 s of 300 s$/m);
    assert.match(stats.stdout, /^\/registry\/leases\/ +3 {2}.*B$/m);
    assert.match(
      (await storage(root, 'check')).stdout,
      /^the store .*store\.sqlite is whole: \d+ objects, \d+ rows, revision \d+\n$/,
    );
    assert.match((await storage(root, 'defrag')).stdout, /^the store .* gave back .*: .* before, .* now\n$/);
    const file = join(home.path, 'snapshot');
    assert.match(
      (await storage(root, 'snapshot', file)).stdout,
      /snapshot: a snapshot of revision \d+ \(\d+ objects, .*\)\n$/,
    );
    const again = await storage(root, 'snapshot', file);
    assert.deepEqual([again.code, again.stdout], [exit.failed, '']);
    assert.match(
      again.stderr,
      /^nodeward: .*snapshot is there already and is not replaced; choose another name\n$/,
    );
    assert.deepEqual((await readdir(home.path)).sort(), ['root', 'snapshot'], 'nothing half done is left');
  });

  test('a snapshot brings a lost store back, and who watched the lost one is told to begin anew', async () => {
    await using home = await temporaryFolder('storage-');
    const root = join(home.path, 'root');
    const file = join(home.path, 'snapshot');
    const port = await freePort();
    const first = await startApiServer(root, { port });
    await writeLeases(first.kubeconfig, 20);
    await must(storage(root, 'snapshot', file));
    const later = await writeLeases(first.kubeconfig, 5, 'later');
    const whileRunning = await storage(root, 'restore', file, '--force');
    assert.equal(whileRunning.code, exit.locked, whileRunning.stderr);
    assert.match(whileRunning.stderr, /in use by another process; stop that one first\n$/);
    await first.process.stop();
    await rm(join(root, 'storage'), { recursive: true });

    const empty = await startApiServer(root, { port });
    await empty.process.waitForOutput(
      /"level":"warn".*was missing or empty.*nodeward storage restore --root-dir/,
    );
    assert.match(
      await readiness(empty, root),
      /^\[\+\]storage ok: created again at .*Z, because .* was missing$/m,
    );
    assert.match((await storage(root, 'stats')).stdout, /^origin {7} created again at /m);
    await empty.process.stop();
    const refused = await storage(root, 'restore', file);
    assert.equal(refused.code, exit.failed);
    assert.match(
      refused.stderr,
      /is not replaced: it holds objects; with --force it is kept aside under another name\n$/,
    );
    const restored = JSON.parse((await must(storage(root, 'restore', file, '--force', '-o', 'json'))).stdout);
    assert.ok(restored.revision > 1_000_000_000 && restored.objects > 20);
    await stat(restored.keptAside);

    await using again = await startApiServer(root, { port });
    assert.doesNotMatch(again.process.stderr, /missing or empty/);
    assert.match(await readiness(again, root), /^\[\+\]storage ok: restored from a snapshot at .*Z$/m);
    await using api = await clientOf(again.kubeconfig);
    const { items, metadata } = await api.list(leaseKind, { namespace });
    assert.equal(items.length, 20, 'as of the snapshot');
    assert.ok(Number(metadata.resourceVersion) >= restored.revision);
    await assert.rejects(
      Array.fromAsync(api.watch(leaseKind, { namespace, resourceVersion: String(later) })),
      (error) => error instanceof StatusError && error.code === 410,
    );
    assert.equal((await writeLeases(again.kubeconfig, 1, 'new')) > restored.revision, true);
  });

  test('a damaged store is told by check, and not served', async () => {
    await using home = await temporaryFolder('storage-');
    const root = join(home.path, 'root');
    const server = await startApiServer(root);
    await writeLeases(server.kubeconfig, 5);
    await server.process.stop();
    const database = join(root, 'storage/store.sqlite');
    const bytes = await readFile(database);
    bytes.write('HOLDER', bytes.indexOf('holder-of-3'));
    await writeFile(database, bytes);
    const { code, stdout, stderr } = await storage(root, 'check');
    assert.equal(code, exit.configuration);
    assert.match(stdout, /^\/registry\/leases\/default\/lease-3 at revision \d+: not what was written$/m);
    assert.match(stderr, /^nodeward: the store .* is damaged; .*nodeward storage restore --force FILE\n$/);
    const start = await nodeward('apiserver', '--root-dir', root, '--secure-port', '0');
    assert.equal(start.code, exit.configuration, start.stderr);
    assert.match(start.stderr, /lease-3 at revision \d+ is not what was written; .*nodeward storage check/);
    const snapshot = await storage(root, 'snapshot', join(home.path, 'snapshot'));
    assert.equal(snapshot.code, exit.configuration, 'what is damaged goes into no snapshot');
    assert.deepEqual(await readdir(home.path), ['root']);
  });

  test('say what to do where they cannot', async () => {
    await using home = await temporaryFolder('storage-');
    const root = join(home.path, 'root');
    const file = join(home.path, 'snapshot');
    const none = await storage(root, 'stats');
    assert.deepEqual([none.code, none.stdout], [exit.unwritable, '']);
    assert.match(none.stderr, /^nodeward: there is no store in .*root\/storage: store\.sqlite is missing\n$/);
    assert.deepEqual(await readdir(home.path), [], 'looking makes nothing');
    const missing = await storage(root, 'restore', file);
    assert.equal(missing.code, exit.configuration);
    assert.match(missing.stderr, new RegExp(`there is no ${file}\n$`));

    const server = await startApiServer(root);
    await must(storage(root, 'snapshot', file));
    const nowhere = await storage(root, 'snapshot', join(home.path, 'no/where'));
    assert.equal(nowhere.code, exit.unwritable, nowhere.stderr);
    assert.match(nowhere.stderr, /cannot write the snapshot in .*no: ENOENT.*; choose another place\n$/);
    const kubeconfig = join(root, 'admin.kubeconfig');
    const text = await readFile(kubeconfig);
    await rm(kubeconfig);
    const locked = await storage(root, 'stats');
    assert.equal(locked.code, exit.locked, locked.stderr);
    assert.match(
      locked.stderr,
      /in use by another process, and there is no .*; name the kubeconfig of that server with --kubeconfig\n$/,
    );
    await writeFile(kubeconfig, text);
    await server.process.stop();

    await truncate(file, (await stat(file)).size - 10);
    const cut = await storage(join(home.path, 'other'), 'restore', file);
    assert.equal(cut.code, exit.configuration, cut.stderr);
    assert.match(cut.stderr, /the snapshot .* cannot be used: it ends, .* use another one\n$/);
    assert.deepEqual(await readdir(join(home.path, 'other/storage')), []);
  });

  test('are for system:masters alone', async () => {
    await using home = await temporaryFolder('storage-');
    const root = join(home.path, 'root');
    await using server = await startApiServer(root);
    const pki = join(root, 'pki');
    for (const path of ['stats', 'snapshot']) {
      const url = `${server.url}/storage/${path}`;
      assert.equal((await curl(pki, url, { method: 'GET', as: 'none' })).code, 401);
      assert.equal((await curl(pki, url, { method: 'POST' })).code, 405);
      assert.equal((await curl(pki, url, { method: 'GET' })).code, 200);
    }
    const token = await tokenOf(server.kubeconfig);
    const bearer = ['--cacert', join(pki, 'ca.crt'), '-H', `Authorization: Bearer ${token}`];
    for (const [method, path] of [
      ['GET', 'snapshot'],
      ['POST', 'hold?id=mine&to=elsewhere'],
      ['PUT', 'hold?id=mine&revision=1'],
    ] as const) {
      const { code, stdout } = await runCommand('curl', [
        ...['--silent', '--noproxy', '*', ...bearer, '--request', method],
        ...['--write-out', '%{http_code}', `${server.url}/storage/${path}`],
      ]);
      assert.equal(code, 0);
      assert.match(stdout, /403$/, `${method} ${path}`);
    }
  });
});

interface Seen {
  file: string;
  revision: number;
  objects: number;
  prefixes: unknown;
  rows: number;
  problems: unknown;
}

async function lookAtAll(root: string, snapshot: string): Promise<Seen> {
  const json = async (...args: readonly string[]) =>
    JSON.parse((await must(storage(root, ...args, '-o', 'json'))).stdout);
  const { file, revision, objects, prefixes } = await json('stats');
  const { rows, problems } = await json('check');
  const { beforeBytes, afterBytes } = await json('defrag');
  assert.ok(afterBytes <= beforeBytes);
  const taken = await json('snapshot', snapshot);
  assert.deepEqual([taken.revision, taken.objects], [revision, objects]);
  return { file, revision, objects, prefixes, rows, problems };
}

/** All that /readyz says, as anybody may ask. */
async function readiness({ url }: { url: string }, root: string): Promise<string> {
  const { code, body } = await curl(join(root, 'pki'), `${url}/readyz?verbose`, {
    method: 'GET',
    as: 'none',
  });
  assert.equal(code, 200);
  return body;
}

async function objectsIn(snapshot: string): Promise<string> {
  return await readFile(snapshot, 'utf8');
}

function nodeward(...args: readonly string[]): Promise<CommandResult> {
  const [node, script] = program;
  return runCommand(node, [script, ...args]);
}

function storage(root: string, ...args: readonly string[]): Promise<CommandResult> {
  return nodeward('storage', ...args, ...(args.includes('--kubeconfig') ? [] : ['--root-dir', root]));
}

async function must(running: Promise<CommandResult>): Promise<CommandResult> {
  const result = await running;
  assert.equal(result.code, exit.ok, result.stderr);
  return result;
}

async function clientOf(kubeconfig: string): Promise<ApiClient> {
  return new ApiClient(clientOptionsOf(await readKubeconfig(kubeconfig)));
}

/** Answers the last version. */
async function writeLeases(kubeconfig: string, count: number, prefix = 'lease'): Promise<number> {
  await using api = await clientOf(kubeconfig);
  let version = 0;
  for (let n = 0; n < count; n++) {
    const lease = {
      metadata: { name: `${prefix}-${n}`, namespace },
      spec: { holderIdentity: `holder-of-${n}` },
    };
    version = Number((await api.create(leaseKind, lease)).metadata?.resourceVersion);
  }
  return version;
}

async function settled(kubeconfig: string): Promise<void> {
  await using api = await clientOf(kubeconfig);
  await untilAtRest(api);
}

async function tokenOf(kubeconfig: string): Promise<string> {
  await settled(kubeconfig);
  await using api = await clientOf(kubeconfig);
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default/token`;
  const body = JSON.stringify({ kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', spec: {} });
  const answer = await api.request({ method: 'POST', path, body });
  assert.equal(answer.code, 201, answer.body);
  return JSON.parse(answer.body).status.token;
}
