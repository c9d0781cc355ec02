import type { ApiObject, FeatureGates, Kind } from '../../api/index.ts';
import {
  namespaceKind,
  namespaceTerminating,
  notFound,
  podKind,
  resolveGates,
  resourceQuotaKind,
  StatusError,
  servedKinds,
  serviceKind,
} from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { CachedStore } from '../storage/index.ts';
import { isReadable } from '../storage/index.ts';
import { podBinding } from './operations/pod-binding.ts';
import { createPodEviction } from './operations/pod-eviction.ts';
import { QuotaLedger } from './quota/ledger.ts';
import { Resource } from './resource.ts';
import type { ServiceRanges } from './services/ranges.ts';
import { defaultServiceRanges } from './services/ranges.ts';
import type { DefaultTolerations } from './strategies/index.ts';
import { createPodStrategy, createServiceStrategy, strategies } from './strategies/index.ts';
import type { Admission, Advice, Strategy } from './strategy.ts';
import type { Operation, Registry } from './types.ts';
import { createUnreadableError } from './unreadable.ts';
import { keyOf, prefixOf } from './write/keys.ts';

export interface RegistryOptions {
  storage: CachedStore;
  clock: Clock;
  groupSuffix: string;
  admission: readonly Admission[];
  advice?: Advice;
  /** The kinds to serve; default: all of them. */
  kinds?: readonly Kind[];
  operations?: readonly Operation[];
  /** Default: the default of each feature. */
  gates?: FeatureGates;
  /** Default: the reference's. */
  serviceRanges?: ServiceRanges;
  /** What pods tolerate that do not say it; default nothing. */
  defaultTolerations?: DefaultTolerations | undefined;
}

export function createRegistry(options: RegistryOptions): Registry {
  const { storage, groupSuffix, kinds = servedKinds } = options;
  const operations = [podBinding, createPodEviction(options.clock), ...(options.operations ?? [])];
  const gates = options.gates ?? resolveGates({});
  const byKind = new Map<Kind, Resource>();
  const stored = { find, list, create };
  const services = createServiceStrategy(
    storage,
    (state) => of(serviceKind).encoding.read(state),
    options.serviceRanges ?? defaultServiceRanges,
  );
  const pods = createPodStrategy(options.defaultTolerations);
  const ownStrategies = new Map<Kind, Strategy>([...strategies, [serviceKind, services], [podKind, pods]]);
  const limited = () =>
    [...byKind.values()].filter(
      ({ kind }) => kind.namespaced && !kind.virtual && kind.storedAs === undefined,
    );
  const quotas = () => of(resourceQuotaKind);
  const ledger = kinds.some((kind) => Object.is(kind, resourceQuotaKind))
    ? new QuotaLedger({ storage, quotas, resources: limited, clock: options.clock, groupSuffix })
    : undefined;
  for (const kind of kinds) {
    const strategy = ownStrategies.get(kind) ?? {};
    byKind.set(kind, new Resource({ ...options, gates, kind, strategy, checkNamespace, stored, ledger }));
  }
  const namespaces = of(namespaceKind);

  function checkNamespace(namespace: string, kind: Kind, name: string): void {
    const key = keyOf(namespaceKind, '', namespace);
    const stored = storage.get(key); // of one that cannot be read now, the last state that could be
    if (stored === undefined) throw whyMissing(key, namespace);
    if (namespaces.encoding.read(stored).metadata?.deletionTimestamp === undefined) return;
    throw namespaceTerminating(kind, groupSuffix, namespace, name);
  }

  function whyMissing(key: string, namespace: string): StatusError {
    const state = storage.lookup(key);
    if (state === undefined || isReadable(state)) return notFound(namespaceKind, groupSuffix, namespace);
    return createUnreadableError(namespaceKind, groupSuffix, namespace, state);
  }

  function isOf<T extends ApiObject>(
    resource: Resource | undefined,
    kind: Kind<T>,
  ): resource is Resource<T> & Resource {
    return resource !== undefined && Object.is(resource.kind, kind);
  }

  function of<T extends ApiObject>(kind: Kind<T>): Resource<T> {
    const resource = byKind.get(kind);
    if (!isOf(resource, kind)) throw new Error(`${kind.kind} is not served`);
    return resource;
  }

  function find<T extends ApiObject>(kind: Kind<T>, namespace: string, name: string): T | undefined {
    const { encoding } = of(kind);
    const state = storage.lookup(keyOf(kind, namespace, name));
    if (state === undefined) return undefined;
    if (!isReadable(state)) throw createUnreadableError(kind, groupSuffix, name, state);
    return encoding.read(state);
  }

  function list<T extends ApiObject>(kind: Kind<T>, namespace = ''): readonly T[] {
    const resource = of(kind);
    const { items } = storage.list(prefixOf(kind, namespace), '', 0);
    return items.map((stored) => resource.readShared(stored));
  }

  async function create<T extends ApiObject>(kind: Kind<T>, namespace: string, object: T): Promise<void> {
    try {
      await of(kind).create(namespace, object, { user: controlPlaneUser, dryRun: false });
    } catch (error) {
      if (!(error instanceof StatusError && error.reason === 'AlreadyExists')) throw error;
    }
  }

  return {
    groupSuffix,
    gates,
    resources: [...byKind.values()],
    ledger,
    of,
    operation: (body) => operations.find((operation) => operation.body === body),
  };
}
