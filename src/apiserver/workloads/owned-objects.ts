import type { ApiObject, Kind, OwnerReference } from '../../api/index.ts';
import type { ControllerOptions } from '../controllers/index.ts';
import { ParsedObjects } from '../controllers/index.ts';
import type { Follower, Resource } from '../registry/index.ts';
import type { Stored } from '../storage/index.ts';

/** The reference to the controller of an object; at most one is marked so. */
export function controllerOf({ metadata }: ApiObject): OwnerReference | undefined {
  return metadata?.ownerReferences?.find(({ controller }) => controller === true);
}

/**
 * The objects of a kind by the uid of their controller, and those of each namespace that have none. Kept while it is
 * followed: it is current before any follower of it is called. What cannot be read keeps its last readable state.
 */
export class OwnedObjects<T extends ApiObject> {
  readonly resource: Resource<T>;
  readonly #parsed: ParsedObjects<T>;
  /** By the uid of the controller, or the namespace of those without, with their keys. */
  readonly #groups = new Map<string, Map<string, T>>();
  readonly #groupOf = new Map<string, string>();
  #followers = 0;
  #following: Disposable | undefined;

  constructor({ registry, log }: ControllerOptions, kind: Kind<T>) {
    this.resource = registry.of(kind);
    this.#parsed = new ParsedObjects(registry, kind, log, 'a workload controller');
  }

  /** Those whose controller has this uid. They are shared: not to be changed. */
  ownedBy(uid: string): readonly T[] {
    return [...(this.#groups.get(uid)?.values() ?? [])];
  }

  /** Those in a namespace that have no controller. */
  orphansIn(namespace: string): readonly T[] {
    return [...(this.#groups.get(orphansOf(namespace))?.values() ?? [])];
  }

  /**
   * Throws where an object in a namespace cannot be read and was not read before: it may belong to any workload, so that nothing
   * is to be made in its place.
   */
  mustBeKnown(namespace: string): void {
    const { storage } = this.resource;
    const unknown = storage
      .unreadable(this.resource.prefix(namespace))
      .find(({ key }) => !this.#groupOf.has(key));
    if (unknown !== undefined)
      throw new Error(`nothing is made in place of ${unknown.key}, which is there and cannot be read`);
  }

  /** The object of a state; undefined where it cannot be read. */
  read(stored: Stored): T | undefined {
    return this.#parsed.read(stored);
  }

  /** As Resource.follow. */
  follow(follower: Follower, namespace = ''): Disposable {
    using starting = new DisposableStack();
    starting.use(this.#keep());
    starting.use(this.resource.follow(follower, namespace));
    return starting.move();
  }

  #keep(): Disposable {
    if (this.#followers++ === 0) this.#following = this.#begin();
    return {
      [Symbol.dispose]: () => {
        if (--this.#followers === 0) this.#following?.[Symbol.dispose]();
      },
    };
  }

  #begin(): Disposable {
    this.#groups.clear();
    this.#groupOf.clear();
    const written = (stored: Stored) => this.#written(stored);
    const gone = ({ key }: Stored) => this.#remove(key);
    return this.resource.follow({ present: written, added: written, changed: written, gone });
  }

  #written(stored: Stored): void {
    const object = this.read(stored);
    if (object === undefined) return;
    delete object.metadata?.managedFields; // half of its memory, and nothing here reads them
    const { key } = stored;
    const name = controllerOf(object)?.uid ?? orphansOf(object.metadata?.namespace ?? '');
    if (this.#groupOf.get(key) !== name) this.#remove(key);
    this.#groupOf.set(key, name);
    const group = this.#groups.get(name) ?? new Map<string, T>();
    this.#groups.set(name, group.set(key, object));
  }

  #remove(key: string): void {
    const name = this.#groupOf.get(key);
    if (name === undefined) return;
    this.#groupOf.delete(key);
    const group = this.#groups.get(name);
    group?.delete(key);
    if (group?.size === 0) this.#groups.delete(name);
  }
}

/** No uid has a blank in it. */
function orphansOf(namespace: string): string {
  return `orphans of ${namespace}`;
}
