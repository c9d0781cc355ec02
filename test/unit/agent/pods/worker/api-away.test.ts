/** An API that is away for an hour, and has changed everything when it is back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiStatuses } from '../../../../../src/agent/assembly/api-statuses.ts';
import { ApiPods } from '../../../../../src/agent/pods/index.ts';
import { createPodFinder, StatusWriter, statusMetrics } from '../../../../../src/agent/pods/status/index.ts';
import type { ApiObject, Kind } from '../../../../../src/api/index.ts';
import { podKind } from '../../../../../src/api/index.ts';
import type { Clock } from '../../../../../src/base/index.ts';
import { createMetrics, silentLogger } from '../../../../../src/base/index.ts';
import type { WatchOptions } from '../../../../../src/client/index.ts';
import {
  ApiClient,
  ConnectionError,
  clientOptionsOf,
  ifFound,
  readKubeconfig,
} from '../../../../../src/client/index.ts';
import { startApiServer } from '../../../../../src/testing/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import { metrics } from '../support.ts';
import type { ApiSide } from './node-world.ts';
import { NodeWorld } from './node-world.ts';

const namespace = 'default';
const hourMs = 3600_000;
/** In the time of the agent. */
const strideMs = 30_000;

/** The client of an agent whose way to the API can be cut. */
class CutClient {
  readonly #api: ApiClient;
  #cut = new AbortController();

  constructor(api: ApiClient) {
    this.#api = api;
  }

  cut(): void {
    this.#cut.abort();
  }

  mend(): void {
    this.#cut = new AbortController();
  }

  list: ApiClient['list'] = (kind, options) => this.#pass(() => this.#api.list(kind, options));
  patch: ApiClient['patch'] = (kind, name, patch, options) =>
    this.#pass(() => this.#api.patch(kind, name, patch, options));
  delete: ApiClient['delete'] = (kind, name, options) =>
    this.#pass(() => this.#api.delete(kind, name, options));

  async *watch<T extends ApiObject>(kind: Kind<T>, options: WatchOptions = {}) {
    this.#check();
    const { signal: cut } = this.#cut;
    const signal = options.signal === undefined ? cut : AbortSignal.any([options.signal, cut]);
    yield* this.#api.watch(kind, { ...options, signal });
    this.#check();
  }

  async #pass<T>(call: () => Promise<T>): Promise<T> {
    this.#check();
    return await call();
  }

  #check(): void {
    if (this.#cut.signal.aborted) throw new ConnectionError('refused', 'nothing listens there');
  }
}

function connect(client: CutClient, clock: Clock): ApiSide {
  const log = silentLogger();
  const onApi = new ApiPods({ api: client, nodeName: 'n1', metrics: metrics(), log, clock });
  const writer = new StatusWriter({
    ...{ api: client, watched: createPodFinder(onApi), log, clock, metrics: statusMetrics(createMetrics()) },
    onWatched: (listener) => onApi.onChange(() => listener()),
  });
  return {
    source: onApi,
    isComplete: () => onApi.isSynced(),
    sink: new ApiStatuses(writer, onApi),
    run: (signal) => Promise.all([onApi, writer].map(({ run }) => run(signal, () => undefined))),
  };
}

test('an API that is away for an hour, and has changed everything since: what stays runs on, the rest converges', async () => {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder('pods-'));
  const server = stack.use(await startApiServer());
  const options = clientOptionsOf(await readKubeconfig(await server.kubeconfigFile()));
  const api = stack.use(new ApiClient(options));
  const client = new CutClient(stack.use(new ApiClient(options)));
  const world = new NodeWorld(folder.path, {
    connect: (clock) => connect(client, clock),
    behaviours: ({ name, attempt }) =>
      name === 'restless' && attempt === 0 ? { exitAfterMs: hourMs / 2 } : {},
  });
  world.start();
  stack.defer(() => world.stop());

  const create = async (name: string, container = 'main') => {
    const containers = [{ name: container, image: 'app:1' }];
    const spec = { nodeName: 'n1', containers, automountServiceAccountToken: false };
    return await api.create(podKind, { metadata: { name, namespace }, spec });
  };
  const get = (name: string) => ifFound(api.get(podKind, name, { namespace }));
  const isRunning = async (name: string) => (await get(name))?.status?.phase === 'Running';
  const runs = async (...names: string[]) => (await Promise.all(names.map(isRunning))).every((is) => is);
  const running = () =>
    world.runtime
      .containers()
      .filter(({ state }) => state === 'running')
      .map(({ name }) => name.split('_')[1]);

  const before = ['kept', 'labelled', 'restless', 'dropped', 'replaced', 'ending'];
  for (const name of before) await create(name, name === 'restless' ? 'restless' : 'main');
  await world.until('all to run', () => runs(...before));
  const idOf = (name: string) =>
    world.runtime.containers().find((each) => each.name.split('_')[1] === name)?.id;
  const [kept, labelled] = [idOf('kept'), idOf('labelled')];

  client.cut();
  await world.pass(1000);
  const calls = world.runtime.calls.length;
  await api.patch(
    podKind,
    'labelled',
    { metadata: { labels: { color: 'red' } } },
    { as: 'merge', namespace },
  );
  await api.delete(podKind, 'dropped', { namespace, gracePeriodSeconds: 0 });
  await api.delete(podKind, 'replaced', { namespace, gracePeriodSeconds: 0 });
  const { metadata } = await create('replaced');
  await api.delete(podKind, 'ending', { namespace });
  await create('new');
  await server.faults.expireHistory();
  for (let pastMs = 0; pastMs < hourMs; pastMs += strideMs) {
    await world.clock.advance(strideMs);
    await world.pass(1);
  }
  assert.deepEqual(running().toSorted(), before.toSorted(), 'without the API all runs on');
  const changes = world.runtime.calls
    .slice(calls)
    .filter((call) => /^(run|create|start|stop|remove)/.test(call));
  assert.deepEqual(changes, ['createContainer', 'startContainer'], 'but what ended by itself');

  client.mend();
  const after = ['kept', 'labelled', 'restless', 'replaced', 'new'];
  await world.until('everything to converge', async () => {
    const isGone = (await get('ending')) === undefined;
    return isGone && (await runs(...after)) && running().length === after.length;
  });
  assert.deepEqual(running().toSorted(), after.toSorted());
  assert.deepEqual([idOf('kept'), idOf('labelled')], [kept, labelled]);
  const uids = world.runtime.sandboxes().map(({ config }) => config.metadata?.uid);
  assert.ok(uids.includes(metadata?.uid));
  const counts = async (name: string) => (await get(name))?.status?.containerStatuses?.[0]?.restartCount;
  assert.deepEqual(await Promise.all(after.map(counts)), [0, 0, 1, 0, 0]);
  assert.equal((await get('labelled'))?.metadata?.labels?.['color'], 'red');
  assert.deepEqual(world.runtime.violations, []);
  const records = (await world.leftovers()).filter((name) => name.endsWith('.json'));
  assert.equal(records.length, after.length);
});
