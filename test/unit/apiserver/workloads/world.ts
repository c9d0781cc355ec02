import type { ApiObject, Event, Kind, Pod } from '../../../../src/api/index.ts';
import {
  eventKind,
  formatMicroTime,
  formatTime,
  leaseKind,
  namespaceKind,
  podKind,
} from '../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../src/apiserver/authn/index.ts';
import type { ControllerOptions } from '../../../../src/apiserver/controllers/index.ts';
import type { Deletion } from '../../../../src/apiserver/registry/index.ts';
import { createRegistry } from '../../../../src/apiserver/registry/index.ts';
import type { CachedStore } from '../../../../src/apiserver/storage/index.ts';
import { createCache, openStore } from '../../../../src/apiserver/storage/index.ts';
import type { Service } from '../../../../src/base/index.ts';
import { VeiledStore } from '../../../contract/storage/veiled-store.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { recordedLog } from '../../base/recorded-log.ts';

export const context = { user: controlPlaneUser, dryRun: false };
export const namespace = 'ns';
export const secondMs = 1000;

/**
 * A control plane's store and registry with controllers, whose time only the test moves. `storeOf`: the store as the controllers
 * have it.
 */
export async function prepare(
  create: (options: ControllerOptions) => readonly Service[],
  storeOf: (storage: CachedStore) => CachedStore = (storage) => storage,
) {
  const { log, text } = recordedLog();
  const clock = createManualClock();
  const store = await openStore({ kind: 'memory', clock });
  const storage = await createCache(new VeiledStore(store), { clock, log });
  const registry = createRegistry({ storage, clock, groupSuffix: 'k8s.io', admission: [] });
  for (const name of [namespace, 'kube-system'])
    await registry.of(namespaceKind).create('', { metadata: { name } }, context);
  const options = { registry, storage, clock, log };
  const theirs = storeOf(storage);
  const theirRegistry = createRegistry({ storage: theirs, clock, groupSuffix: 'k8s.io', admission: [] });
  const controllerOptions = { registry: theirRegistry, storage: theirs, clock, log };
  let stop = new AbortController();
  let running: Promise<void>[] = [];

  function list<T extends ApiObject>(kind: Kind<T>): T[] {
    const { encoding, prefix } = bind(kind);
    return storage.list(prefix, '', 0).items.map((stored) => encoding.read(stored));
  }
  function bind<T extends ApiObject>(kind: Kind<T>) {
    const resource = registry.of(kind);
    return { resource, encoding: resource.encoding, prefix: resource.prefix(namespace) };
  }
  function get<T extends ApiObject>(kind: Kind<T>, name: string): T {
    const { resource, encoding } = bind(kind);
    return encoding.read(resource.get(namespace, name));
  }
  async function change<T extends ApiObject>(
    kind: Kind<T>,
    name: string,
    make: (now: T) => T,
    subresource = '',
  ): Promise<void> {
    const { resource } = bind(kind);
    await resource.change({ namespace, name }, { make, operation: 'Update' }, subresource, context);
  }

  return {
    ...options,
    /** That of the controllers, which the test's own writes do not pass. */
    theirRegistry,
    context,
    logged: text,
    list,
    get,
    change,
    pods: () => list(podKind),
    podNames: () => list(podKind).map(({ metadata }) => metadata?.name ?? ''),
    /** As `reason: message`, those of one object. */
    events: (name: string) =>
      list<Event>(eventKind)
        .filter(({ involvedObject }) => involvedObject?.name === name)
        .map(({ reason, message }) => `${reason}: ${message}`),
    async start() {
      stop = new AbortController();
      const { signal } = stop;
      await Promise.all(
        create(controllerOptions).map(
          (service) => new Promise<void>((ready) => running.push(service.run(signal, ready))),
        ),
      );
      await clock.advance(0);
    },
    async stop() {
      stop.abort();
      await Promise.all(running);
      running = [];
    },
    async create<T extends ApiObject>(kind: Kind<T>, object: T): Promise<T> {
      const { resource, encoding } = bind(kind);
      const stored = await resource.create(namespace, object, context);
      await clock.advance(0);
      return encoding.read(stored);
    },
    /** Another program writes what cannot be read in place of a pod; resolves when that is known here. */
    async veilPod(name: string) {
      const key = registry.of(podKind).prefix(namespace) + name;
      const expect = storage.get(key)?.revision ?? 0;
      const outcome = await store.commit({ key, expect, value: Buffer.from('?') });
      if (!outcome.ok) throw new Error(`${key} is another one`);
      await storage.waitFor(outcome.revision, AbortSignal.timeout(5000));
      await clock.advance(0);
    },
    async remove<T extends ApiObject>(kind: Kind<T>, name: string, deletion: Deletion = {}) {
      await bind(kind).resource.delete(namespace, name, deletion, context);
      await clock.advance(0);
    },
    /** What an agent writes of a pod. */
    async report(name: string, phase: string, isReady = phase === 'Running') {
      const status = isReady ? 'True' : 'False';
      const lastTransitionTime = formatTime(clock.now());
      const make = (pod: Pod): Pod => ({
        ...pod,
        status: { ...pod.status, phase, conditions: [{ type: 'Ready', status, lastTransitionTime }] },
      });
      await change(podKind, name, make, 'status');
      await clock.advance(0);
    },
    /** A controller manager renews its Lease. */
    async renewLease(seconds: number) {
      const renewTime = formatMicroTime(clock.now());
      const spec = { holderIdentity: 'theirs', leaseDurationSeconds: seconds, renewTime };
      const metadata = { name: 'kube-controller-manager' };
      await registry.of(leaseKind).create('kube-system', { metadata, spec }, context);
    },
    async [Symbol.asyncDispose]() {
      await this.stop();
      await storage.close();
    },
  };
}

export type World = Awaited<ReturnType<typeof prepare>>;
