import type { ApiObject, Kind } from '../../../api/index.ts';
import type { ControllerOptions, Follows } from '../../controllers/index.ts';
import { ParsedObjects } from '../../controllers/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';

/** The objects of a kind by namespace, kept while they are followed. What cannot be read keeps its last readable state. */
export class KnownObjects<T extends ApiObject> {
  readonly resource: Resource<T>;
  readonly #parsed: ParsedObjects<T>;
  readonly #byNamespace = new Map<string, Map<string, T>>();

  constructor({ registry, log }: ControllerOptions, kind: Kind<T>) {
    this.resource = registry.of(kind);
    this.#parsed = new ParsedObjects(registry, kind, log, 'the endpoints controller');
  }

  /** They are shared: not to be changed. */
  in(namespace: string): readonly T[] {
    return [...(this.#byNamespace.get(namespace)?.values() ?? [])];
  }

  /** Of all namespaces. */
  all(): readonly T[] {
    return [...this.#byNamespace.values()].flatMap((objects) => [...objects.values()]);
  }

  find(namespace: string, name: string): T | undefined {
    return this.#byNamespace.get(namespace)?.get(this.resource.prefix(namespace) + name);
  }

  /** Throws where an object in a namespace cannot be read and never was: nothing is concluded from what is not known. */
  mustBeKnown(namespace: string): void {
    const { storage } = this.resource;
    const known = this.#byNamespace.get(namespace);
    const unknown = storage.unreadable(this.resource.prefix(namespace)).find(({ key }) => !known?.has(key));
    if (unknown !== undefined)
      throw new Error(
        `endpoints in the namespace ${namespace} stay as they are: ${unknown.key} cannot be read`,
      );
  }

  /** Calls `changed` with each object as it is and as it was, once they are known here. */
  follow(changed: (now: T | undefined, before: T | undefined) => void): Follows {
    const written = (stored: Stored) => {
      const now = this.#parsed.read(stored);
      if (now === undefined) return;
      const { namespace } = this.resource.placeOf(stored.key);
      const known = this.#byNamespace.get(namespace) ?? new Map<string, T>();
      this.#byNamespace.set(namespace, known);
      const before = known.get(stored.key);
      known.set(stored.key, now);
      changed(now, before);
    };
    return {
      resource: this.resource,
      present: written,
      added: written,
      changed: written,
      gone: ({ key }) => {
        const { namespace } = this.resource.placeOf(key);
        const known = this.#byNamespace.get(namespace);
        const before = known?.get(key);
        known?.delete(key);
        if (known?.size === 0) this.#byNamespace.delete(namespace);
        changed(undefined, before);
      },
    };
  }
}
