/** A control plane whose disk is full: it says so, goes on reading, loses nothing, and writes again once there is room. */
import assert from 'node:assert/strict';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { StatusError } from '../../src/api/index.ts';
import type { ConfigMap } from '../../src/api/kinds/core/config-map.ts';
import { configMapKind } from '../../src/api/kinds/core/config-map.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../src/client/index.ts';
import type { SupervisedProcess } from '../support/index.ts';
import { freePort, startProcess, temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import { program } from './nodeward/index.ts';
import type { SmallDisk } from './storage/small-disk.ts';
import { mountSmallDisk } from './storage/small-disk.ts';

const namespace = 'default';
const mebibyte = 1024 * 1024;

before(ensureBuilt);

describe('a full disk', { timeout: 180_000 }, () => {
  test('refuses writes with the reason, reads and watches go on, and little room is enough to go on', async () => {
    await using place = await temporaryFolder('full-');
    await using disk = await mountSmallDisk(join(place.path, 'root'), 64);
    await using server = await Server.start(disk, join(place.path, 'root'));
    const { api } = server;
    await reserveIsTaken(disk);
    const watched = new Set<string>();
    const stop = new AbortController();
    const watching = watch(api, watched, stop.signal);

    const written = await writeSome(api, 'before', 20);
    await disk.fill();
    for (const name of await writeUntilFull(api, 'while')) written.push(name);
    assert.ok(written.length > 100, `the reserve still took ${written.length - 20} objects`);
    await disk.fill();
    for (let attempt = 0; attempt < 50; attempt++) await assertRefused(api, `refused-${attempt}`);

    assert.deepEqual(
      await namesIn(api),
      written.toSorted(),
      'what was answered is there, what was refused is not',
    );
    await waitFor('the watch to tell it all', () => written.every((name) => watched.has(name)));
    assert.equal(watched.size, written.length, 'and nothing else');
    await assertHealth(server, { ready: false });

    await disk.free(2 * mebibyte);
    await waitFor('to be ready again', async () => (await server.get('/readyz')).code === 200);
    written.push(...(await writeSome(api, 'after', 20)));
    await waitFor('the watch to go on', () => written.every((name) => watched.has(name)));
    await assertHealth(server, { ready: true });
    stop.abort();
    await watching;
    await server.kill();

    await using again = await Server.start(disk, join(place.path, 'root'));
    assert.deepEqual(await namesIn(again.api), written.toSorted(), 'after kill -9 too');
    await again.storage('check');
  });

  test('that was full before the start is served, and written to once there is room', async () => {
    await using place = await temporaryFolder('full-');
    await using disk = await mountSmallDisk(join(place.path, 'root'), 64);
    const port = await freePort(); // the same again, so that its kubeconfig is as it was
    const first = await Server.start(disk, join(place.path, 'root'), port);
    await reserveIsTaken(disk);
    const written = await writeSome(first.api, 'before', 20);
    await disk.fill();
    written.push(...(await writeUntilFull(first.api, 'while')));
    await disk.fill();
    await first.kill();
    await garble(disk.path('pki', 'apiserver.crt'));
    await disk.fill();
    await using server = await Server.start(disk, join(place.path, 'root'), port);
    await waitFor('the log to tell', () =>
      /apiserver\.crt and \.key: ENOSPC.* is used and not kept/.test(server.log),
    );
    assert.deepEqual(await namesIn(server.api), written.toSorted());
    await writeUntilFull(server.api, 'in-the-files-as-they-are');
    await assertHealth(server, { ready: false });
    await disk.free(4 * mebibyte);
    await waitFor('to be ready again', async () => (await server.get('/readyz')).code === 200);
    await writeSome(server.api, 'after', 5);
  });
});

/** As many bytes as before, in the same place: a full disk takes them. */
async function garble(path: string): Promise<void> {
  await using file = await open(path, 'r+');
  const { size } = await file.stat();
  await file.write(Buffer.alloc(size, 'x'), 0, size, 0);
}

/** A control plane on a disk of its own. */
class Server implements AsyncDisposable {
  readonly api: ApiClient;
  readonly #process: SupervisedProcess;
  readonly #disk: SmallDisk;
  readonly #rootDir: string;

  private constructor(process: SupervisedProcess, api: ApiClient, disk: SmallDisk, rootDir: string) {
    this.#process = process;
    this.api = api;
    this.#disk = disk;
    this.#rootDir = rootDir;
  }

  get log(): string {
    return this.#process.stderr;
  }

  static async start(disk: SmallDisk, rootDir: string, port = 0): Promise<Server> {
    const [command = '', ...enter] = disk.enter;
    const argv = [...program, 'apiserver', '--root-dir', rootDir, '--secure-port', String(port)];
    const process = await startProcess(command, [...enter, ...argv]);
    try {
      await process.waitForOutput(/^serving on /m, { timeoutMs: 30_000 });
    } catch (error) {
      await process.stop();
      throw error;
    }
    const options = clientOptionsOf(await readKubeconfig(disk.path('admin.kubeconfig')));
    return new Server(process, new ApiClient(options), disk, rootDir);
  }

  async get(path: string): Promise<{ code: number; body: string }> {
    return await this.api.request({ method: 'GET', path });
  }

  /** `nodeward storage …` where the disk is seen; it must succeed. */
  async storage(...args: readonly string[]): Promise<string> {
    const [command = '', ...enter] = this.#disk.enter;
    const argv = [...enter, ...program, 'storage', ...args, '--root-dir', this.#rootDir];
    await using child = await startProcess(command, argv);
    const { code } = await child.exited;
    assert.equal(code, 0, child.stderr);
    return child.stdout;
  }

  async kill(): Promise<void> {
    await this.#process.kill9();
    await this.api.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.api.close();
    await this.#process.stop();
  }
}

async function reserveIsTaken(disk: SmallDisk): Promise<void> {
  const size = async () =>
    (await stat(disk.path('storage', 'store.reserve')).catch(() => undefined))?.size ?? 0;
  await waitFor('the reserve', async () => (await size()) === 16 * mebibyte);
}

function configMap(name: string): ConfigMap {
  return { metadata: { name, namespace }, data: { text: 'x'.repeat(20_000) } };
}

async function writeSome(api: ApiClient, prefix: string, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
  for (const name of names) await api.create(configMapKind, configMap(name));
  return names;
}

/** Answers what was written. */
async function writeUntilFull(api: ApiClient, prefix: string): Promise<string[]> {
  const written: string[] = [];
  for (let index = 0; index < 5_000; index++) {
    try {
      await api.create(configMapKind, configMap(`${prefix}-${index}`));
      written.push(`${prefix}-${index}`);
    } catch (error) {
      assertNoRoom(error);
      return written;
    }
  }
  throw new Error('the disk never was full');
}

async function assertRefused(api: ApiClient, name: string): Promise<void> {
  await assert.rejects(api.create(configMapKind, configMap(name)), (error) => {
    assertNoRoom(error);
    return true;
  });
}

function assertNoRoom(error: unknown): void {
  assert.ok(error instanceof StatusError, String(error));
  assert.equal(error.reason, 'ServiceUnavailable', error.message);
  assert.equal(error.code, 503);
  assert.match(error.message, /no room left on its disk; nothing was changed/);
  assert.ok((error.details?.retryAfterSeconds ?? 0) > 0, 'it may be tried again');
}

async function namesIn(api: ApiClient): Promise<string[]> {
  const { items } = await api.list(configMapKind, { namespace });
  return items
    .map(({ metadata }) => metadata?.name ?? '')
    .filter(isOwn)
    .sort();
}

async function watch(api: ApiClient, seen: Set<string>, signal: AbortSignal): Promise<void> {
  for await (const { object } of api.watch(configMapKind, { namespace, signal }))
    if (isOwn(object.metadata?.name ?? '')) seen.add(object.metadata?.name ?? '');
}

/** Each namespace has one of the control plane's. */
const isOwn = (name: string) => name !== 'kube-root-ca.crt';

/** A full disk is no reason to start the server anew. */
async function assertHealth(server: Server, { ready }: { ready: boolean }): Promise<void> {
  const told = await server.get('/readyz?verbose');
  assert.equal(told.code, ready ? 200 : 500, told.body);
  assert.match(
    told.body,
    ready ? /^\[\+\]storage-writes ok$/m : /^\[-\]storage-writes failed: .*disk is full/m,
  );
  assert.equal((await server.get('/livez')).code, 200);
  const { body } = await server.get('/metrics');
  assert.match(body, /^apiserver_storage_size_bytes\{storage_cluster_id="sqlite-0"\} [1-9]\d{4,}$/m);
  assert.match(body, ready ? /^nodeward_storage_writable 1$/m : /^nodeward_storage_writable 0$/m);
}
