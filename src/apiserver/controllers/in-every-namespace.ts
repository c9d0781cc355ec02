import type { ApiObject } from '../../api/index.ts';
import { namespaceKind, StatusError } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import type { Resource } from '../registry/index.ts';
import { followWritten } from '../registry/index.ts';
import type { State } from '../storage/index.ts';
import type { ControllerOptions } from './controller.ts';
import { controller } from './controller.ts';
import { findReadable } from './presence.ts';

export interface NamespacedObject<T extends ApiObject> {
  readonly resource: Resource<T>;
  readonly name: string;
  /** Whether what others write to the object matters, too; otherwise only that it is there. */
  readonly followsChanges: boolean;
  /** Makes or mends the object in a namespace that is not being deleted; `found` is what is stored, readable or not. */
  keep(namespace: string, found: State | undefined): Promise<void>;
}

/** A controller that keeps an object of one name in every namespace. */
export function inEveryNamespace<T extends ApiObject>(
  name: string,
  options: ControllerOptions,
  object: NamespacedObject<T>,
): Service {
  const { registry, storage } = options;
  const { resource } = object;
  const namespaces = registry.of(namespaceKind);

  async function work(namespace: string): Promise<void> {
    const stored = findReadable(storage, namespaces.prefix('') + namespace);
    if (stored === undefined) return;
    if (namespaces.encoding.read(stored).metadata?.deletionTimestamp !== undefined) return;
    await object.keep(namespace, storage.lookup(resource.prefix(namespace) + object.name)).catch(ignoreRace);
  }

  return controller(name, options, (enqueue) => {
    const enqueueOwn = (key: string) => {
      const place = resource.placeOf(key);
      if (place.name === object.name) enqueue(place.namespace);
    };
    const changes = object.followsChanges ? followWritten(enqueueOwn) : {};
    return {
      follows: [
        { resource: namespaces, ...followWritten((key) => enqueue(namespaces.placeOf(key).name)) },
        { resource, ...changes, gone: ({ key }) => enqueueOwn(key) },
      ],
      work,
    };
  });
}

/** It was written by another client, or the namespace was deleted meanwhile. */
function ignoreRace(error: unknown): void {
  const races = ['AlreadyExists', 'Conflict', 'NotFound', 'Forbidden'];
  if (!(error instanceof StatusError && races.includes(error.reason))) throw error;
}
