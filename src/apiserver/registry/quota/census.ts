import type { Amounts, Kind, ResourceQuota } from '../../../api/index.ts';
import { persistentVolumeClaimKind, podKind, serviceKind } from '../../../api/index.ts';
import type { CachedStore, Stored } from '../../storage/index.ts';
import { isInScope } from './scopes.ts';
import type { StoredKind } from './stored-kind.ts';
import { addAll, takes, usageOf } from './usage.ts';

interface CensusOptions {
  storage: CachedStore;
  /** Those that are stored in namespaces. */
  resources(): readonly StoredKind[];
  groupSuffix: string;
  now(): number;
}

/** What is known of one state of an object, so that it is parsed once. */
interface Known {
  /** Undefined for one that is going: what it takes changes with time. */
  readonly usage: Amounts | undefined;
  /** By quota and generation, whether it is in its scope. */
  readonly inScope: Map<string, boolean>;
}

const parsed: readonly Kind[] = [podKind, serviceKind, persistentVolumeClaimKind];

/** Counts what the objects of a namespace take of a quota, as memory has them. */
export class QuotaCensus {
  readonly #options: CensusOptions;
  readonly #known = new WeakMap<Stored, Known>();

  constructor(options: CensusOptions) {
    this.#options = options;
  }

  /** By each resource of the quota's spec that anything is counted for. */
  count(namespace: string, quota: ResourceQuota): Map<string, bigint> {
    const { storage, resources, groupSuffix } = this.#options;
    const sum = new Map<string, bigint>();
    for (const resource of resources()) {
      const names = Object.keys(quota.spec?.hard ?? {}).filter((name) =>
        takes(resource.kind, groupSuffix, name),
      );
      if (names.length === 0) continue;
      for (const name of names) sum.set(name, sum.get(name) ?? 0n);
      const { items } = storage.list(resource.prefix(namespace), '', 0);
      for (const stored of items) {
        const usage = this.#usageIn(quota, resource, stored);
        addAll(sum, new Map(names.map((name) => [name, usage.get(name) ?? 0n])));
      }
    }
    return sum;
  }

  /** Whether objects that the quota counts cannot be read: the count may be too low. */
  isUncertain(namespace: string, quota: ResourceQuota): boolean {
    const { storage, resources, groupSuffix } = this.#options;
    const names = Object.keys(quota.spec?.hard ?? {});
    return resources().some(
      (resource) =>
        names.some((name) => takes(resource.kind, groupSuffix, name)) &&
        storage.unreadable(resource.prefix(namespace)).length > 0,
    );
  }

  #usageIn(quota: ResourceQuota, resource: StoredKind, stored: Stored): Amounts {
    const { groupSuffix, now } = this.#options;
    const { scopes = [], scopeSelector } = quota.spec ?? {};
    const isScoped = scopes.length + (scopeSelector?.matchExpressions?.length ?? 0) > 0;
    if (!parsed.includes(resource.kind))
      return isScoped ? new Map() : usageOf(resource.kind, {}, groupSuffix, 0);
    const before = this.#known.get(stored);
    const scope = `${quota.metadata?.uid}/${quota.metadata?.generation}/${JSON.stringify(scopeSelector)}`;
    const isIn = isScoped ? before?.inScope.get(scope) : true;
    if (before?.usage !== undefined && isIn !== undefined) return isIn ? before.usage : new Map();
    const object = resource.encoding.read(stored);
    const usage = usageOf(resource.kind, object, groupSuffix, now());
    const isGoing = object.metadata?.deletionTimestamp !== undefined;
    const inScope = (before?.inScope ?? new Map<string, boolean>()).set(
      scope,
      isInScope(resource.kind, object, quota.spec),
    );
    this.#known.set(stored, { usage: isGoing ? undefined : usage, inScope });
    return inScope.get(scope) ? usage : new Map();
  }
}
