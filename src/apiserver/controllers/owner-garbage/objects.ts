import type { ApiObject, ObjectMeta, OwnerReference } from '../../../api/index.ts';
import { apiVersionOf } from '../../../api/index.ts';
import type { Registry, Resource } from '../../registry/index.ts';
import { foregroundFinalizer, orphanFinalizer } from '../../registry/index.ts';
import type { CachedStore, Stored } from '../../storage/index.ts';
import { isUnreadable } from '../presence.ts';

/** An object with its place in the store. */
export interface Item {
  key: string;
  resource: Resource;
  namespace: string;
  name: string;
  uid: string;
  metadata: ObjectMeta;
}

/** The objects of all kinds by their keys, and the keys of their owners. */
export interface Objects {
  /** Undefined when there is none; the last readable state of one that cannot be read. */
  find(key: string): Item | undefined;
  /** Whether there is one that cannot be read now. */
  isUnreadable(key: string): boolean;
  /** Undefined when the key belongs to no stored kind. */
  read(stored: Stored): Item | undefined;
  /**
   * The key under which the owner that a reference names would be stored. `unknown`: no such kind is served. `misplaced`:
   * an object without a namespace cannot be owned by one in a namespace.
   */
  ownerKey(of: Pick<Item, 'namespace'>, reference: OwnerReference): string | 'unknown' | 'misplaced';
  /** The kinds that are stored. */
  resources: readonly Resource[];
}

export function createObjects(registry: Registry, storage: CachedStore): Objects {
  const served = registry.resources.filter(({ kind }) => !kind.virtual);
  const resources = served.filter(({ kind }) => kind.storedAs === undefined);
  const byFolder = new Map(resources.map((resource) => [resource.prefix(''), resource]));
  const byType = new Map(
    served.map((resource) => [
      typeName(apiVersionOf(resource.kind, registry.groupSuffix), resource.kind.kind),
      resource,
    ]),
  );

  function read(stored: Stored): Item | undefined {
    const resource = byFolder.get(folderOf(stored.key));
    if (resource === undefined) return undefined;
    const { metadata = {} }: ApiObject = resource.encoding.read(stored);
    const { namespace = '', name = '', uid = '' } = metadata;
    return { key: stored.key, resource, namespace, name, uid, metadata };
  }

  return {
    resources,
    read,
    find(key) {
      const stored = storage.get(key);
      return stored && read(stored);
    },
    isUnreadable: (key) => isUnreadable(storage, key),
    ownerKey({ namespace }, { apiVersion, kind, name }) {
      const resource = byType.get(typeName(apiVersion, kind));
      if (resource === undefined) return 'unknown';
      if (!resource.kind.namespaced) return `${resource.prefix('')}${name}`;
      return namespace === '' ? 'misplaced' : `${resource.prefix(namespace)}${name}`;
    },
  };
}

/** `/registry/leases/` of `/registry/leases/default/a`. */
function folderOf(key: string): string {
  return key.slice(0, key.indexOf('/', '/registry/'.length) + 1);
}

function typeName(apiVersion: string, kind: string): string {
  return `${apiVersion} ${kind}`;
}

/** What an object in deletion waits for; undefined when it does not wait for the collector. */
export function waitsFor({ metadata }: Item): 'dependents' | 'orphaning' | undefined {
  const { deletionTimestamp, finalizers = [] } = metadata;
  if (deletionTimestamp === undefined) return undefined;
  if (finalizers.includes(foregroundFinalizer)) return 'dependents';
  return finalizers.includes(orphanFinalizer) ? 'orphaning' : undefined;
}
