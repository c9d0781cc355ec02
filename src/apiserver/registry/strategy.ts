import type { ApiObject, Cause, FeatureGates, Kind, StatusError } from '../../api/index.ts';
import type { User } from '../authn/index.ts';
import type { Stored } from '../storage/index.ts';

/** Who writes, and how. */
export interface WriteContext {
  user: User;
  /** Do everything but keep the result (specification, section 4.9). */
  dryRun: boolean;
  /** Who the written fields belong to in metadata.managedFields; unset for the control plane's own parts. */
  manager?: string;
  /** Takes what the client should know of a write that succeeded. */
  warn?(text: string): void;
}

/** The other objects that a write depends on, as they are now. */
export interface StoredObjects {
  /** Undefined when there is none; throws when it cannot be read. `namespace` is empty for cluster-scoped kinds. */
  find<T extends ApiObject>(kind: Kind<T>, namespace: string, name: string): T | undefined;
  /**
   * All that can be read, of a kind without namespaces and with few objects, or in one namespace, in the order of their names;
   * not to be changed.
   */
  list<T extends ApiObject>(kind: Kind<T>, namespace?: string): readonly T[];
  /** Makes an object for the control plane itself, unless another has made it meanwhile. */
  create<T extends ApiObject>(kind: Kind<T>, namespace: string, object: T): Promise<void>;
}

/** How an object is changed. */
export interface Change {
  /** Empty for the object's own path. */
  subresource: string;
  /** Wall clock, milliseconds. */
  now: number;
  context: Pick<WriteContext, 'user' | 'warn'>;
}

/** How an object is admitted. */
export interface Admittance {
  /** Empty for the object's own path. */
  subresource: string;
  context: Pick<WriteContext, 'user' | 'dryRun'>;
  stored: StoredObjects;
}

/**
 * What a kind does on writes beyond its description, because it needs the server's state or the caller. Any of the
 * hooks may throw a StatusError to refuse the write.
 */
export interface Strategy<T extends ApiObject = ApiObject> {
  /** Takes off what belongs to a feature that is off, unless the stored object has it already. */
  withoutGated?(next: T, old: T | undefined, gates: FeatureGates): T;
  /**
   * Makes what a new object needs and the control plane is about to make by itself; undefined where nothing is to be made. Not
   * called in a dry run.
   */
  provide?(object: T, namespace: string, stored: StoredObjects): Promise<void> | undefined;
  /** Fills in what the server knows, before defaulting and validation. */
  beforeCreate?(object: T, context: WriteContext, stored: StoredObjects): T;
  /** Fills in what the server knows of a change, before defaulting and validation. */
  beforeUpdate?(next: T, old: T, change: Change): T;
  /**
   * Keeps what must be unique in the cluster and is not stored yet, until the result is disposed of: when the write has
   * ended. Called with what is about to be written, in the same step as the hook that fills it in.
   */
  hold?(next: T): Disposable;
  /** Adds what is nobody's in metadata.managedFields, before validation; what it adds has its defaults. */
  admit?(next: T, old: T | undefined, how: Admittance): T;
  /** Why a write that has landed cannot stay, because another server was first; it is undone. */
  overtaken?(now: Stored): StatusError | undefined;
  /** Further causes against a new object, or a change through the object's own path or a subresource. */
  check?(next: T, old: T | undefined, subresource: string): readonly Cause[];
  beforeDelete?(object: T): void;
  /**
   * Seconds between the request to delete an object and its end; 0, and so without this hook, is at once. `asked` is
   * the client's gracePeriodSeconds, undefined when it gave none. Meanwhile the object is kept, and the agent that runs it
   * removes it by deleting it with a grace period of 0. A repeated request can only shorten the time.
   */
  gracePeriod?(object: T, asked: number | undefined): number;
  /** What is stored when a deletion begins and there is something left to finish. */
  onTerminating?(object: T): T;
  /** Whether something other than metadata.finalizers still holds an object that is being deleted. */
  isHeld?(object: T): boolean;
}

/** What the client should know of an object that was accepted, because of what else is stored. */
export type Advice = (resource: string, next: ApiObject) => readonly string[];

/** Refuses a write by who asks (admission); throws a StatusError. */
export type Admission = (
  user: User,
  write: {
    verb: 'create' | 'update' | 'delete';
    resource: string;
    subresource: string;
    name: string;
    namespace: string;
  },
  next: ApiObject | undefined,
  old: ApiObject | undefined,
) => void;
