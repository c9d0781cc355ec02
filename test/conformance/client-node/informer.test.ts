/** The informer of the JavaScript client misses nothing, whatever happens to its connection, the server or the history. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { openStore } from '../../../src/apiserver/storage/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../../src/client/index.ts';
import { ensureBuilt } from '../../integration/installation.ts';
import type { RunningApiServer } from '../../integration/nodeward/index.ts';
import { startApiServer } from '../../integration/nodeward/index.ts';
import { freePort, temporaryFolder, waitFor } from '../../support/index.ts';
import { Counters } from './counters.ts';
import { CuttableProxy } from './cuttable-proxy.ts';
import { FollowedCounters, throughPort } from './followed.ts';

before(ensureBuilt);

test('a dropped connection', async () => {
  await using lab = await Lab.open();
  await using followed = await lab.follow();
  await lab.whileCounting(async () => {
    for (let cut = 0; cut < 8; cut += 1) {
      await lab.moreWrites(25);
      await waitFor('the informer to be at it', progressOf(followed));
      lab.proxy.cut();
    }
  });
  await lab.settles(followed);
  assert.deepEqual(followed.jumps, []);
  assert.ok(followed.events > 100, `${followed.events} events`);
  assert.equal(followed.lists, 1, 'it goes on from where it was');
});

test('a server that is killed and started again', async () => {
  await using lab = await Lab.open();
  await using followed = await lab.follow();
  for (let kill = 0; kill < 4; kill += 1) {
    await lab.whileCounting(async () => {
      await lab.moreWrites(40);
      await lab.kill();
    });
    await lab.restart();
  }
  await lab.whileCounting(() => lab.moreWrites(40));
  await lab.settles(followed);
  assert.deepEqual(followed.jumps, []);
  assert.ok(followed.events > 100, `${followed.events} events`);
  assert.equal(followed.lists, 1, 'it goes on from where it was, on the new server too');
});

test('history that is gone when it comes back', async () => {
  await using lab = await Lab.open();
  await using followed = await lab.follow();
  await lab.whileCounting(() => lab.moreWrites(40));
  await lab.settles(followed);
  lab.proxy.isDown = true;
  lab.proxy.cut();
  await lab.whileCounting(() => lab.moreWrites(70));
  await lab.kill();
  await lab.forgetHistory();
  await lab.restart();
  lab.proxy.isDown = false;
  await lab.settles(followed);
  assert.equal(followed.lists, 2, 'it was told 410 and has listed again');
  followed.jumps.length = 0; // what happened while it was away, it cannot have seen
  const before = followed.events;
  await lab.whileCounting(() => lab.moreWrites(40));
  await lab.settles(followed);
  assert.deepEqual(followed.jumps, []);
  assert.ok(followed.events >= before + 40);
  assert.equal(followed.lists, 2);
});

/** Waits for events after those there are now. */
function progressOf(followed: FollowedCounters): () => boolean {
  const { events } = followed;
  return () => followed.events > events;
}

/** A server that can be killed and started again, a proxy in front of it, and writers that go past the proxy. */
class Lab implements AsyncDisposable {
  readonly #resources: AsyncDisposableStack;
  readonly #rootDir: string;
  readonly #port: number;
  readonly #counters = new Counters('default', 6);
  readonly proxy: CuttableProxy;
  #server: RunningApiServer;

  private constructor(
    resources: AsyncDisposableStack,
    rootDir: string,
    proxy: CuttableProxy,
    port: number,
    server: RunningApiServer,
  ) {
    this.#resources = resources;
    this.#rootDir = rootDir;
    this.proxy = proxy;
    this.#port = port;
    this.#server = server;
  }

  static async open(): Promise<Lab> {
    await using setup = new AsyncDisposableStack();
    const folder = setup.use(await temporaryFolder('informer-'));
    const port = await freePort();
    const proxy = setup.use(await CuttableProxy.open(port));
    const rootDir = join(folder.path, 'root');
    const server = await startApiServer(rootDir, { port });
    return new Lab(setup.move(), rootDir, proxy, port, server);
  }

  /** An informer by way of the proxy, started. */
  async follow(): Promise<FollowedCounters> {
    const followed = new FollowedCounters(throughPort(this.#server.kubeconfig, this.proxy.port), 'default');
    await followed.start();
    return followed;
  }

  /** The writers count while `work` is done. */
  async whileCounting(work: () => Promise<void>): Promise<void> {
    await using api = new ApiClient(clientOptionsOf(await readKubeconfig(this.#server.kubeconfig)));
    const stop = new AbortController();
    const counting = this.#counters.count(api, stop.signal);
    await work().finally(() => stop.abort());
    await counting;
  }

  async moreWrites(count: number): Promise<void> {
    const enough = this.#counters.writes + count;
    await waitFor(`${count} writes`, () => this.#counters.writes >= enough, {
      intervalMs: 2,
      timeoutMs: 30_000,
    });
  }

  async kill(): Promise<void> {
    await this.#server.process.kill9();
  }

  /** On the same port and store. */
  async restart(): Promise<void> {
    this.#server = await startApiServer(this.#rootDir, { port: this.#port });
  }

  /** While no server runs: only the present state stays. */
  async forgetHistory(): Promise<void> {
    const folder = join(this.#rootDir, 'storage');
    await using store = await openStore({ kind: 'sqlite', folder, identity: { groupSuffix: 'k8s.io' } });
    await store.compact(await store.revision());
  }

  /** The informer has in its cache what the server lists. */
  async settles(followed: FollowedCounters): Promise<void> {
    await followed.settles(throughPort(this.#server.kubeconfig, this.#port));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
    await this.#resources.disposeAsync();
  }
}
