import type { Node, Pod } from '../../../../../src/api/index.ts';
import { namespaceKind, nodeKind, podKind } from '../../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../../src/apiserver/authn/index.ts';
import { PodGarbageService } from '../../../../../src/apiserver/controllers/index.ts';
import type { PodGarbageSettings } from '../../../../../src/apiserver/controllers/pod-garbage/index.ts';
import { createRegistry } from '../../../../../src/apiserver/registry/index.ts';
import type { Write } from '../../../../../src/apiserver/storage/index.ts';
import { createCache, openStore } from '../../../../../src/apiserver/storage/index.ts';
import { waitFor } from '../../../../support/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { recordedLog } from '../../../base/recorded-log.ts';
import { interleavedStore } from '../interleaved-store.ts';

export const context = { user: controlPlaneUser, dryRun: false };
export const secondMs = 1000;

/** Pods on a store whose time the test holds; the controller runs from the start. */
export async function prepare(
  meanwhile: (write: Write) => Promise<unknown> | undefined = () => undefined,
  settings: PodGarbageSettings = {},
) {
  const { log, text } = recordedLog();
  const clock = createManualClock();
  const storage = await createCache(await openStore({ kind: 'memory', clock }), { clock, log });
  const registryOn = (seen: typeof storage) =>
    createRegistry({ storage: seen, clock, groupSuffix: 'k8s.io', admission: [] });
  const registry = registryOn(storage);
  const [pods, nodes] = [registry.of(podKind), registry.of(nodeKind)];
  await registry.of(namespaceKind).create('', { metadata: { name: 'default' } }, context);
  const history: string[] = [];
  storage.follow('', ({ key, next }) => {
    if (!key.startsWith(pods.prefix(''))) return;
    const { phase = '', conditions = [] } = (next && pods.encoding.read(next).status) ?? {};
    const told = conditions.find(({ type }) => type === 'DisruptionTarget');
    history.push(next === null ? 'gone' : `${phase} ${told?.reason ?? ''} ${told?.message ?? ''}`.trimEnd());
  });
  const stop = new AbortController();
  const seen = interleavedStore(storage, meanwhile);
  const ready = Promise.withResolvers<void>();
  const options = { registry: registryOn(seen), storage: seen, clock, log, settings };
  const running = new PodGarbageService(options).run(stop.signal, ready.resolve);
  await ready.promise;
  await clock.advance(0);
  const idle = clock.sleepers;

  return {
    clock,
    pods,
    logged: text,
    createNode: (name: string) => nodes.create('', { metadata: { name } }, context),
    changeNode: (name: string, make: (node: Node) => Node, subresource = '') =>
      nodes.change({ namespace: '', name }, { make, operation: 'Update' }, subresource, context),
    /** How a pod has ended, or goes on. */
    say: (name: string, status: NonNullable<Pod['status']>) =>
      pods.change(
        { namespace: 'default', name },
        { make: (pod) => ({ ...pod, status: { ...pod.status, ...status } }), operation: 'Update' },
        'status',
        context,
      ),
    /** Every state of a pod that was stored, by phase and reason of its end. */
    history,
    removeNode: (name: string) => nodes.delete('', name, {}, context),
    /** A pod that is bound to a node, and given half an hour to end. */
    async create(name: string, nodeName: string, metadata: Pod['metadata'] = {}): Promise<void> {
      const containers = [{ name: 'main', image: 'example.com/image:1' }];
      const spec = { containers, nodeName, terminationGracePeriodSeconds: 1800 };
      await pods.create('default', { metadata: { ...metadata, name }, spec }, context);
    },
    /** The same, with arguments of so many bytes. */
    async createLarge(
      name: string,
      nodeName: string,
      metadata: Pod['metadata'],
      bytes: number,
    ): Promise<void> {
      const containers = [{ name: 'main', image: 'example.com/image:1', args: ['x'.repeat(bytes)] }];
      await pods.create(
        'default',
        { metadata: { ...metadata, name }, spec: { containers, nodeName } },
        context,
      );
    },
    /** Lets time pass, and every sweep in it come to its end. */
    async pass(ms: number): Promise<void> {
      for (let passed = 0; passed < ms; passed += 10 * secondMs) {
        await clock.advance(10 * secondMs);
        await waitFor('the end of the sweep', () => clock.sleepers === idle, { intervalMs: 1 });
      }
    },
    remove: (name: string) => pods.delete('default', name, {}, context),
    names: () =>
      storage.list(pods.prefix(''), '', 0).items.map((stored) => pods.encoding.read(stored).metadata?.name),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      await storage.close();
    },
  };
}
