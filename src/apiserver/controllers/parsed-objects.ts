import type { ApiObject, Kind } from '../../api/index.ts';
import type { Logger } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import type { Registry, Resource } from '../registry/index.ts';
import type { Stored } from '../storage/index.ts';

/**
 * The objects of a kind; each state of one is parsed once, and one that cannot be read is as if it were not there.
 * `reader` as the log names who reads them.
 */
export class ParsedObjects<T extends ApiObject> {
  readonly #resource: Resource<T>;
  readonly #parsed = new WeakMap<Stored, T | 'unreadable'>();
  readonly #log: Logger;
  readonly #reader: string;

  constructor(registry: Registry, kind: Kind<T>, log: Logger, reader: string) {
    this.#resource = registry.of(kind);
    this.#log = log;
    this.#reader = reader;
  }

  find(namespace: string, name: string): T | undefined {
    const stored =
      name === '' ? undefined : this.#resource.storage.get(this.#resource.prefix(namespace) + name);
    return stored && this.read(stored);
  }

  list(namespace: string): readonly T[] {
    const { items } = this.#resource.storage.list(this.#resource.prefix(namespace), '', 0);
    return items.flatMap((stored) => this.read(stored) ?? []);
  }

  read(stored: Stored): T | undefined {
    const known = this.#parsed.get(stored) ?? this.#parse(stored);
    this.#parsed.set(stored, known);
    return known === 'unreadable' ? undefined : known;
  }

  #parse(stored: Stored): T | 'unreadable' {
    try {
      return this.#resource.encoding.read(stored);
    } catch (error) {
      const { key } = stored;
      this.#log.warn({ key }, `${this.#reader} cannot read an object: ${describeError(error)}`);
      return 'unreadable';
    }
  }
}
