import type { ApiObject, FeatureGates, Kind } from '../../../api/index.ts';
import type { Clock, KeyedMutex } from '../../../base/index.ts';
import type { CachedStore } from '../../storage/index.ts';
import type { ObjectEncoding } from '../encoding.ts';
import type { SecondText } from '../metadata.ts';
import type { QuotaLedger } from '../quota/ledger.ts';
import type { Admission, Advice, StoredObjects, Strategy } from '../strategy.ts';

export interface ResourceOptions<T extends ApiObject> {
  kind: Kind<T>;
  strategy: Strategy<T>;
  storage: CachedStore;
  clock: Clock;
  groupSuffix: string;
  admission: readonly Admission[];
  advice?: Advice;
  gates: FeatureGates;
  stored: StoredObjects;
  /** Charges the quotas of namespaces; undefined where there are none. */
  ledger?: QuotaLedger | undefined;
  /** Throws when objects cannot be created in a namespace: it is missing or going. */
  checkNamespace(namespace: string, kind: Kind, name: string): void;
}

/** Shared by the verbs of one kind. */
export interface Parts<T extends ApiObject> extends ResourceOptions<T> {
  encoding: ObjectEncoding<T>;
  /** Serializes retries by key: of many concurrent retries of one object, most would lose again each time. */
  retries: KeyedMutex;
  seconds: SecondText;
}

/** Which object is meant; `namespace` is empty for cluster-scoped kinds. */
export interface Place {
  namespace: string;
  name: string;
}

/** How often a write is tried before it fails because other writes came first. */
export const updateAttempts = 10;
