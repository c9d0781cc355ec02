/** What a pod asks of the runtime and of the API while it starts, runs and ends: more is paid by each pod of each node. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ApiStatuses } from '../../../../../src/agent/assembly/api-statuses.ts';
import { ApiPods } from '../../../../../src/agent/pods/index.ts';
import { createPodFinder, StatusWriter, statusMetrics } from '../../../../../src/agent/pods/status/index.ts';
import { podKind } from '../../../../../src/api/index.ts';
import type { Clock } from '../../../../../src/base/index.ts';
import { createMetrics, silentLogger } from '../../../../../src/base/index.ts';
import { ApiClient, clientOptionsOf, ifFound, readKubeconfig } from '../../../../../src/client/index.ts';
import { startApiServer } from '../../../../../src/testing/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import { metrics } from '../support.ts';
import type { ApiSide } from './node-world.ts';
import { NodeWorld } from './node-world.ts';

const namespace = 'default';
const stack = new AsyncDisposableStack();
let api: ApiClient;
let world: NodeWorld;
/** Since the last `takeCosts`; of records those that are written, which take two syncs of the disk each. */
let counts = { patches: 0, deletes: 0, looks: 0, records: 0 };
let knownCalls = 0;

before(async () => {
  const folder = stack.use(await temporaryFolder('pods-'));
  const server = stack.use(await startApiServer());
  const options = clientOptionsOf(await readKubeconfig(await server.kubeconfigFile()));
  api = stack.use(new ApiClient(options));
  world = new NodeWorld(folder.path, {
    connect,
    onLooked: () => {
      counts.looks += 1;
    },
    killedAt(step) {
      if (step === 'before write') counts.records += 1;
      return false;
    },
  });
  world.start();
  stack.defer(() => world.stop());
});
after(() => stack.disposeAsync());

function connect(clock: Clock): ApiSide {
  const log = silentLogger();
  const onApi = new ApiPods({ api, nodeName: 'n1', metrics: metrics(), log, clock });
  const counted: Pick<ApiClient, 'patch' | 'delete'> = {
    patch: (...given) => {
      counts.patches += 1;

      return api.patch(...given);
    },
    delete: (...given) => {
      counts.deletes += 1;
      return api.delete(...given);
    },
  };
  const writer = new StatusWriter({
    ...{ api: counted, watched: createPodFinder(onApi), log, clock, metrics: statusMetrics(createMetrics()) },
    onWatched: (listener) => onApi.onChange(() => listener()),
  });
  return {
    source: onApi,
    isComplete: () => onApi.isSynced(),
    sink: new ApiStatuses(writer, onApi),
    run: (signal) => Promise.all([onApi, writer].map(({ run }) => run(signal, () => undefined))),
  };
}

/** In steps that are short beside the time in which what can wait is written. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let pastMs = 0; pastMs < 60_000; pastMs += 10) {
    if (await holds()) return;
    await world.pass(10);
  }
  throw new Error(`waited in vain for ${what}`);
}

function takeCosts() {
  const { looks, ...written } = counts;
  const calls = world.runtime.calls.slice(knownCalls);
  knownCalls += calls.length;
  counts = { patches: 0, deletes: 0, looks: 0, records: 0 };
  return { looks, costs: { calls, ...written } };
}

/** And nothing follows later. */
async function expectCosts(
  expected: ReturnType<typeof takeCosts>['costs'],
  mostLooks: number,
): Promise<void> {
  await world.pass(5000);
  const { looks, costs } = takeCosts();
  assert.deepEqual(costs, expected);
  assert.ok(looks <= mostLooks, `${looks} looks`);
}

const get = async () => await ifFound(api.get(podKind, 'web', { namespace }));
const main = async () => (await get())?.status?.containerStatuses?.[0];

test('a pod of one container: what its start, the restart of its container and its end ask for', async () => {
  await world.pass(2000);
  takeCosts();
  const spec = { containers: [{ name: 'main', image: 'app:1' }], automountServiceAccountToken: false };
  const metadata = { name: 'web', namespace };
  await api.create(podKind, { metadata, spec: { nodeName: 'n1', ...spec } });
  await until('it to run', async () => (await main())?.ready === true);
  const start = ['runSandbox', 'createContainer', 'startContainer'] as const;
  await expectCosts({ calls: [...start], patches: 1, deletes: 0, records: 3 }, 7);

  world.runtime.exit(world.runtime.running('main')?.id ?? '', 1);
  await until('it to run again', async () => (await main())?.restartCount === 1);
  const restart = ['createContainer', 'startContainer'] as const;
  await expectCosts({ calls: [...restart], patches: 2, deletes: 0, records: 2 }, 4);

  await api.delete(podKind, 'web', { namespace });
  await until('it to be gone', async () => (await get()) === undefined);
  const end = [
    'stopContainer',
    'stopSandbox',
    'removeContainer',
    'removeContainer',
    'removeSandbox',
  ] as const;
  await expectCosts({ calls: [...end], patches: 1, deletes: 1, records: 2 }, 8);
});
