/**
 * Watches over HTTPS, whatever happens to the server, its history, the connections and the readers: each change once, in
 * order, as the selector sees it, on from anything that was received, and 410 only where history is gone.
 */
import '../support/bounded-file.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ApiClient as Client } from '../../src/client/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../src/client/index.ts';
import type { TestApiServer } from '../../src/testing/index.ts';
import { startApiServer } from '../../src/testing/index.ts';
import { freePort, temporaryFolder } from '../support/index.ts';
import { chooseSeed } from '../support/repetition.ts';
import { HttpFollower } from './watching/http-follower.ts';
import { LeaseLog } from './watching/lease-log.ts';

const which = fc.nat(100);
const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      name: fc.constantFrom('a', 'b', 'c'),
      value: fc.option(fc.nat(5), { freq: 4 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('watch' as const),
      from: fc.option(which, { freq: 2 }),
      onlyEven: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pause' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('resume' as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('leaveOff' as const), which, at: which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('expire' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drop' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('openAgain' as const) }) },
);
const steps = fc.array(step, { minLength: 10, maxLength: 50 });

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

test('watches over HTTPS are sent all there is, whatever happens meanwhile', { timeout: 180_000 }, () =>
  fc.assert(
    fc.asyncProperty(steps, async (plan) => {
      await using world = await World.open();
      for (const each of plan) await world.take(each);
      await world.finish();
    }),
    // without a limit for each run, one that hangs would count as one that was not begun
    { numRuns: 12, seed: chooseSeed(), interruptAfterTimeLimit: 60_000, timeout: 50_000 },
  ),
);

/** A server with its leases, and those who watch them. */
class World implements AsyncDisposable {
  readonly #resources: AsyncDisposableStack;
  readonly #folder: string;
  readonly #port: number;
  readonly #log: LeaseLog;
  readonly #followers: HttpFollower[] = [];
  #server: TestApiServer;
  #api: Client;
  #oldest = 0;
  #expiries = 0;

  private constructor(
    resources: AsyncDisposableStack,
    { folder, port, start }: { folder: string; port: number; start: number },
    server: TestApiServer,
    api: Client,
  ) {
    this.#resources = resources;
    this.#folder = folder;
    this.#port = port;
    this.#server = server;
    this.#api = api;
    this.#log = new LeaseLog(start);
    this.#watch(false, start);
    this.#watch(true, undefined);
  }

  static async open(): Promise<World> {
    await using setUp = new AsyncDisposableStack();
    const { path } = setUp.use(await temporaryFolder('watch-property-'));
    const port = await freePort();
    const server = setUp.use(await start(path, port));
    const api = setUp.use(await connect(server));
    const version = await LeaseLog.newest(api);
    return new World(setUp.move(), { folder: path, port, start: version }, server, api);
  }

  async take(each: Step): Promise<void> {
    switch (each.do) {
      case 'write':
        await this.#log.write(this.#api, each.name, each.value);
        break;
      case 'watch':
        this.#watch(each.onlyEven, each.from === null ? undefined : pick(this.#log.versions, each.from));
        break;
      case 'pause':
        pick(this.#followers, each.which).pause();
        break;
      case 'resume':
        pick(this.#followers, each.which).resume();
        break;
      case 'leaveOff':
        await pick(this.#followers, each.which).leaveOff(each.at);
        break;
      case 'expire':
        this.#expiries += 1; // first: watches may end before the answer
        this.#oldest = Number.POSITIVE_INFINITY; // until the answer says how much is gone: one that begins now may be too old
        this.#oldest = Number(await this.#server.faults.expireHistory());
        break;
      case 'drop':
        this.#server.faults.dropWatches();
        break;
      case 'openAgain':
        await this.#openAgain();
        break;
    }
  }

  async finish(): Promise<void> {
    for (const follower of this.#followers) await follower.finish();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#followers.map((follower) => follower.stop()));
    await this.#server.close(); // the last one of them
    await this.#resources.disposeAsync();
  }

  #watch(onlyEven: boolean, version: number | undefined): void {
    const reached = () => ({ api: this.#api, oldest: this.#oldest, expiries: this.#expiries });
    this.#followers.push(new HttpFollower(reached, this.#log, onlyEven, version));
  }

  async #openAgain(): Promise<void> {
    await this.#server.close();
    this.#server = await start(this.#folder, this.#port);
  }
}

async function start(folder: string, port: number): Promise<TestApiServer> {
  return await startApiServer({ storage: 'sqlite', folder, port, featureGates: { WatchList: true } });
}

async function connect(server: TestApiServer): Promise<Client> {
  return new ApiClient(clientOptionsOf(await readKubeconfig(await server.kubeconfigFile())));
}

function pick<T>(all: readonly T[], index: number): T {
  const found = all[index % all.length];
  assert.ok(found !== undefined);
  return found;
}
