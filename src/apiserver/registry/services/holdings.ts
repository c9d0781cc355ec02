import { isIP } from 'node:net';
import type { Service } from '../../../api/index.ts';
import { hasClusterIP, isHeadless, numberOf, serviceKind } from '../../../api/index.ts';
import type { CachedStore, Revision, Stored } from '../../storage/index.ts';
import { followKeys } from '../follower.ts';
import { prefixOf } from '../write/keys.ts';

/** One thing that only one service may have: `port/30080`, `4/167772161`. */
type Thing = string;

export function portThing(port: number): Thing {
  return `port/${port}`;
}

/** The same for every way to write an address. */
export function addressThing(address: string): Thing {
  return `${isIP(address)}/${numberOf(address)}`;
}

/** What a service has of the addresses and ports of the cluster. */
function thingsOf({ spec = {} }: Service): Thing[] {
  const { clusterIPs = [], ports = [], healthCheckNodePort = 0 } = spec;
  const addresses =
    hasClusterIP(spec) && !isHeadless(spec) ? clusterIPs.filter((each) => isIP(each) > 0) : [];
  const numbers = [...ports.map(({ nodePort = 0 }) => nodePort), healthCheckNodePort].filter(
    (each) => each > 0,
  );
  return [...addresses.map(addressThing), ...numbers.map(portThing)];
}

/**
 * Which services have which addresses and ports. What is stored counts from the moment in which the write is applied, and
 * what is being written from `hold` on: between a look and a hold nothing may be awaited, then each thing is given once.
 */
export class Holdings {
  readonly #storage: CachedStore;
  readonly #read: (stored: Stored) => Service;
  /** By thing, the keys of the services with the revision since which they have it: two when the store has it twice. */
  readonly #holders = new Map<Thing, Map<string, Revision>>();
  readonly #stored = new Map<string, readonly Thing[]>();
  /** Things of services that are being written. */
  readonly #held = new Map<Thing, string>();
  #isFollowing = false;

  constructor(storage: CachedStore, read: (stored: Stored) => Service) {
    this.#storage = storage;
    this.#read = read;
  }

  /** Whether another service than the one with this key has it. */
  isTaken(thing: Thing, key: string): boolean {
    this.#follow();
    const held = this.#held.get(thing);
    if (held !== undefined && held !== key) return true;
    const holders = this.#holders.get(thing);
    return holders !== undefined && [...holders.keys()].some((holder) => holder !== key);
  }

  /** Keeps what a service is about to get, until the result is disposed of. */
  hold(service: Service, key: string): Disposable {
    const things = thingsOf(service).filter((thing) => !this.#held.has(thing));
    for (const thing of things) this.#held.set(thing, key);
    return {
      [Symbol.dispose]: () => {
        for (const thing of things) this.#held.delete(thing);
      },
    };
  }

  /**
   * Something that a service has since this write and another one since an earlier: another server gave it away at the same
   * moment. When a write is answered, all earlier ones are applied, so that of two servers exactly one finds that.
   */
  findOvertaken({ key, revision }: Stored): Thing | undefined {
    return this.#stored.get(key)?.find((thing) => {
      const holders = this.#holders.get(thing);
      return holders?.get(key) === revision && [...holders.values()].some((since) => since < revision);
    });
  }

  /** The keys of services whose things are not known, because they cannot be read. */
  unreadable(): readonly string[] {
    return this.#storage.unreadable(prefixOf(serviceKind, '')).map(({ key }) => key);
  }

  /** For as long as the storage lives; begun when first asked for. */
  #follow(): void {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    const set = (stored: Stored, since: Revision) =>
      this.#set(stored.key, thingsOf(this.#read(stored)), since);
    const written = (stored: Stored) => set(stored, stored.revision);
    followKeys(this.#storage, prefixOf(serviceKind, ''), {
      present: (stored) => set(stored, stored.createRevision),
      added: written,
      changed: written,
      gone: ({ key }) => this.#set(key, [], 0),
    });
  }

  /** What a service had already it has since then. */
  #set(key: string, things: readonly Thing[], since: Revision): void {
    const before = new Map<Thing, Revision>();
    for (const thing of this.#stored.get(key) ?? []) {
      const holders = this.#holders.get(thing);
      before.set(thing, holders?.get(key) ?? since);
      holders?.delete(key);
      if (holders?.size === 0) this.#holders.delete(thing);
    }
    if (things.length === 0) this.#stored.delete(key);
    else this.#stored.set(key, things);
    for (const thing of things)
      this.#holders.set(thing, (this.#holders.get(thing) ?? new Map()).set(key, before.get(thing) ?? since));
  }
}
