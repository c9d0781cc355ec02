import assert from 'node:assert/strict';
import type { ApiObject, ObjectMeta, OwnerReference } from '../../../../../src/api/index.ts';
import {
  apiVersionOf,
  leaseKind,
  namespaceKind,
  nodeKind,
  StatusError,
} from '../../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../../src/apiserver/authn/index.ts';
import { ownerGarbage } from '../../../../../src/apiserver/controllers/index.ts';
import type { Deletion } from '../../../../../src/apiserver/registry/index.ts';
import { createRegistry } from '../../../../../src/apiserver/registry/index.ts';
import type { CachedStore } from '../../../../../src/apiserver/storage/index.ts';
import { createCache, openStore } from '../../../../../src/apiserver/storage/index.ts';
import { systemClock } from '../../../../../src/base/index.ts';
import { waitFor } from '../../../../support/index.ts';
import { recordedLog } from '../../../base/recorded-log.ts';

const context = { user: controlPlaneUser, dryRun: false };

/** `a`: the node a. `x/b`: the lease b in the namespace x. */
export type Name = string;

/**
 * Objects that own each other, on a store of their own, with a garbage collector that can be stopped and started. It
 * works on the store as `seenAs` shows it.
 */
export async function garbageWorld(seenAs: (storage: CachedStore) => CachedStore = (storage) => storage) {
  const { log, text: logged } = recordedLog();
  const clock = systemClock;
  const storage = await createCache(await openStore({ kind: 'memory', clock }), { clock, log });
  const registry = createRegistry({ storage, clock, groupSuffix: 'k8s.io', admission: [] });
  const nodes = registry.of(nodeKind);
  const leases = registry.of(leaseKind);
  for (const name of ['x', 'y']) await registry.of(namespaceKind).create('', { metadata: { name } }, context);
  let running: { stop: AbortController; ended: Promise<void> } | undefined;
  let sentinels = 0;

  function placeOf(name: Name) {
    const [namespace = '', own] = name.includes('/') ? name.split('/') : ['', name];
    return { namespace, name: own ?? '', isLease: namespace !== '' };
  }

  function keyOf(name: Name): string {
    const place = placeOf(name);
    return (place.isLease ? leases : nodes).prefix(place.namespace) + place.name;
  }

  function find(name: Name): ObjectMeta | undefined {
    const stored = storage.get(keyOf(name));
    return stored && (placeOf(name).isLease ? leases : nodes).encoding.read(stored).metadata;
  }

  function must(name: Name): ObjectMeta {
    const metadata = find(name);
    assert.ok(metadata, `${name} is there`);
    return metadata;
  }

  /** A reference to an object that is there. */
  function owner(name: Name, more: Partial<OwnerReference> = {}): OwnerReference {
    const kind = placeOf(name).isLease ? leaseKind : nodeKind;
    const apiVersion = apiVersionOf(kind, 'k8s.io');
    return { apiVersion, kind: kind.kind, name: placeOf(name).name, uid: must(name).uid ?? '', ...more };
  }

  /** A reference to an object that never was. */
  const ghost = (name: Name): OwnerReference => ({
    apiVersion: 'v1',
    kind: 'Node',
    name,
    uid: `ghost-of-${name}`,
  });

  async function create(name: Name, metadata: ObjectMeta = {}): Promise<void> {
    const place = placeOf(name);
    const object: ApiObject = { metadata: { ...metadata, name: place.name } };
    if (place.isLease) await leases.create(place.namespace, object, context);
    else await nodes.create('', object, context);
  }

  async function change(name: Name, how: (metadata: ObjectMeta) => ObjectMeta): Promise<void> {
    const place = placeOf(name);
    const resource = place.isLease ? leases : nodes;
    await resource.changeMetadata(place, must(name).uid ?? '', how, context);
  }

  async function remove(name: Name, deletion: Deletion = {}): Promise<boolean> {
    const place = placeOf(name);
    const resource = place.isLease ? leases : nodes;
    return (await resource.delete(place.namespace, place.name, deletion, context)).gone;
  }

  function start(): Promise<void> {
    const stop = new AbortController();
    return new Promise((ready) => {
      const seen = seenAs(storage);
      const ownRegistry = createRegistry({ storage: seen, clock, groupSuffix: 'k8s.io', admission: [] });
      const collector = ownerGarbage({ registry: ownRegistry, storage: seen, clock, log });
      const ended = collector.run(stop.signal, ready);
      running = { stop, ended };
    });
  }

  async function stop(): Promise<void> {
    running?.stop.abort();
    await running?.ended;
    running = undefined;
  }

  /** Until everything that was asked for before has been looked at. */
  async function settle(): Promise<void> {
    for (let round = 0; round < 2; round++) {
      sentinels += 1;
      const sentinel = `sentinel-${sentinels}`;
      await create(sentinel, { ownerReferences: [ghost('nobody')] });
      await waitFor('the sentinel to go', () => find(sentinel) === undefined, { intervalMs: 1 });
    }
  }

  return {
    storage,
    registry,
    logged,
    keyOf,
    find,
    must,
    owner,
    ghost,
    create,
    change,
    remove,
    start,
    stop,
    settle,
    /** All objects. */
    names(): Name[] {
      const nameIn = (key: string) => key.split('/').slice(3).join('/');
      return [nodes, leases]
        .flatMap((resource) => storage.list(resource.prefix(''), '', 0).items)
        .map(({ key }) => nameIn(key))
        .sort();
    },
    ownersOf: (name: Name) => (find(name)?.ownerReferences ?? []).map(({ uid }) => uid),
    async untilGone(...names: Name[]): Promise<void> {
      for (const name of names) await waitFor(`${name} to go`, () => find(name) === undefined);
    },
    async refusedAs(reason: StatusError['reason'], work: () => Promise<unknown>): Promise<void> {
      await assert.rejects(work, (error) => error instanceof StatusError && error.reason === reason);
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await storage.close();
    },
  };
}
