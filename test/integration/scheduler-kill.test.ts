/** A control plane that is killed while it gives pods their nodes: none is given two, and none is forgotten. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { nodeKind, podKind } from '../../src/api/index.ts';
import { ApiClient, ConnectionError, clientOptionsOf, readKubeconfig } from '../../src/client/index.ts';
import { temporaryFolder, waitFor } from '../support/index.ts';
import { repetitions, seededRandom } from '../support/repetition.ts';
import { ensureBuilt } from './installation.ts';
import { startApiServer } from './nodeward/index.ts';

const kills = repetitions('NODEWARD_SCHEDULER_KILLS', 5);
const podsEach = 200;
const nodes = 5;

before(ensureBuilt);

/** Follows all pods over the servers: which nodes each has had. */
class Places {
  readonly nodesOf = new Map<string, Set<string>>();
  #at = '1';

  get bound(): number {
    return [...this.nodesOf.values()].filter(({ size }) => size > 0).length;
  }

  /** Until the server is gone or `signal` aborts. */
  async follow(api: ApiClient, signal?: AbortSignal): Promise<void> {
    const options = { namespace: 'default', resourceVersion: this.#at, ...(signal ? { signal } : {}) };
    try {
      for await (const { object } of api.watch(podKind, options)) {
        const { name = '', resourceVersion = '' } = object.metadata ?? {};
        this.#at = resourceVersion;
        const had = this.nodesOf.get(name) ?? new Set();
        this.nodesOf.set(name, object.spec?.nodeName ? had.add(object.spec.nodeName) : had);
      }
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
    }
  }
}

async function addNode(api: ApiClient, index: number): Promise<void> {
  const status = {
    allocatable: { cpu: '1k', memory: '64Gi', pods: '10k' },
    conditions: [{ type: 'Ready', status: 'True' }],
  };
  await api.create(nodeKind, { metadata: { name: `node-${index}` }, status });
}

async function addPod(api: ApiClient, name: string): Promise<void> {
  const containers = [{ name: 'main', image: 'app:1', resources: { requests: { cpu: '1' } } }];
  await api.create(podKind, { metadata: { name, namespace: 'default' }, spec: { containers } });
}

test(`kill -9 while pods are bound, ${kills} times`, async (t) => {
  const random = seededRandom(t);
  await using home = await temporaryFolder('scheduler-kill-');
  const rootDir = join(home.path, 'root');
  const places = new Places();
  let cutOff = 0;
  for (let kill = 0; kill <= kills; kill += 1) {
    await using server = await startApiServer(rootDir);
    const options = clientOptionsOf(await readKubeconfig(server.kubeconfig));
    await using api = new ApiClient({ ...options, connections: 32 });
    if (kill === kills) {
      const stop = new AbortController();
      const following = places.follow(api, stop.signal);
      await waitFor(
        'every pod to have a node',
        () => places.bound === places.nodesOf.size && places.bound > 0,
        {
          timeoutMs: 60_000,
        },
      );
      const { items } = await api.list(podKind);
      assert.equal(items.length, places.nodesOf.size);
      assert.ok(items.every(({ spec }) => spec?.nodeName));
      stop.abort();
      await following;
      break;
    }
    if (kill === 0) for (let index = 0; index < nodes; index++) await addNode(api, index);
    const following = places.follow(api);
    const enough = places.bound + podsEach * (0.1 + 0.6 * random());
    const creating = Array.from({ length: podsEach }, (_, index) => addPod(api, `pod-${kill}-${index}`));
    const created = Promise.allSettled(creating); // the last ones are cut off
    await waitFor('some to be bound', () => places.bound >= enough, { intervalMs: 1, timeoutMs: 60_000 });
    await server.process.kill9();
    await Promise.all([created, following]);
    cutOff += places.nodesOf.size - places.bound;
  }
  t.diagnostic(`${places.nodesOf.size} pods, ${cutOff} of them without a node when their server was killed`);
  assert.ok(cutOff > 0, 'no kill came between');
  const twice = [...places.nodesOf].filter(([, { size }]) => size !== 1);
  assert.deepEqual(twice, []);
});
