import { isDeepStrictEqual } from 'node:util';
import type { ApiObject, Cause, Kind } from '../../api/index.ts';
import {
  alreadyExists,
  conflict,
  invalid,
  missingFields,
  notFound,
  StatusError,
  validateMetadata,
} from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import type { CachedStore, Outcome, Stored } from '../storage/index.ts';
import type { ObjectEncoding } from './encoding.ts';
import { objectEncoding } from './encoding.ts';
import { keyOf, prefixOf } from './keys.ts';
import { carriedMetadata, newMetadata, timestamp } from './metadata.ts';
import { generateName } from './names.ts';
import { storageFailure } from './storage-errors.ts';
import type { Admission, Strategy, WriteContext } from './strategy.ts';

export interface Preconditions {
  uid?: string;
  resourceVersion?: string;
}

export interface ResourceOptions<T extends ApiObject> {
  kind: Kind<T>;
  strategy: Strategy<T>;
  storage: CachedStore;
  clock: Clock;
  groupSuffix: string;
  admission: readonly Admission[];
  /** Throws when objects cannot be created in a namespace: it is missing or going. */
  checkNamespace(namespace: string): void;
}

const nameAttempts = 8;
const updateAttempts = 10;
const modified =
  'the object has been modified; please apply your changes to the latest version and try again';

/** The objects of one kind: what the verbs do with them, whatever transport asked for it. */
export class Resource<T extends ApiObject = ApiObject> {
  readonly kind: Kind<T>;
  readonly encoding: ObjectEncoding<T>;
  readonly #options: ResourceOptions<T>;

  constructor(options: ResourceOptions<T>) {
    this.kind = options.kind;
    this.encoding = objectEncoding(options.kind, options.groupSuffix);
    this.#options = options;
  }

  get storage(): CachedStore {
    return this.#options.storage;
  }

  get groupSuffix(): string {
    return this.#options.groupSuffix;
  }

  prefix(namespace: string): string {
    return prefixOf(this.kind, namespace);
  }

  /** The stored object; throws NotFound. */
  get(namespace: string, name: string): Stored {
    const stored = this.storage.get(keyOf(this.kind, namespace, name));
    if (stored === undefined) throw notFound(this.kind, this.groupSuffix, name);
    return stored;
  }

  /** Creates; throws AlreadyExists, Invalid and what admission and the store say. */
  async create(namespace: string, object: T, context: WriteContext): Promise<Stored> {
    const given = object.metadata ?? {};
    if (given.resourceVersion) {
      throw new StatusError('BadRequest', 'resourceVersion should not be set on objects to be created');
    }
    const generated = !given.name && Boolean(given.generateName);
    for (let attempt = 1; ; attempt++) {
      const name = generated ? generateName(given.generateName ?? '') : (given.name ?? '');
      const next = this.#prepareNew(
        { ...object, metadata: newMetadata(given, name, namespace, this.#now()) },
        context,
      );
      this.#admit('create', '', context, next, undefined);
      this.#validate(next, undefined);
      if (this.kind.namespaced) this.#options.checkNamespace(namespace);
      const key = keyOf(this.kind, namespace, name);
      const outcome = await this.#commit(key, undefined, this.encoding.encode(next), context);
      if (outcome.ok && outcome.now) return outcome.now;
      if (!generated || attempt === nameAttempts) throw alreadyExists(this.kind, this.groupSuffix, name);
    }
  }

  /**
   * Replaces an object, or through a subresource the part of it that the subresource stands for. Without a
   * resourceVersion the write is unconditional.
   */
  async update(
    namespace: string,
    name: string,
    object: T,
    subresource: string,
    context: WriteContext,
  ): Promise<Stored> {
    const given = object.metadata ?? {};
    for (let attempt = 1; attempt <= updateAttempts; attempt++) {
      const stored = this.get(namespace, name);
      const old = this.encoding.read(stored);
      this.#checkPreconditions(name, old, given);
      const next = this.#prepareChange(object, old, subresource);
      this.#admit('update', subresource, context, next, old);
      this.#validate(next, old);
      const value = this.encoding.encode(next);
      if (isUnchanged(value, stored, next, old)) return stored;
      const isLast = this.#isFinished(next); // the last finalizer went: the object goes with it
      const outcome = await this.#commit(stored.key, stored, isLast ? null : value, context);
      if (outcome.ok) return outcome.now ?? { ...stored, revision: outcome.revision, value };
      if (given.resourceVersion) break;
    }
    throw conflict(this.kind, this.groupSuffix, name, modified);
  }

  /**
   * Deletes at once, or begins the deletion of an object that has something to finish (specification, section
   * 3.1). Tells the last state and whether the object is gone.
   */
  async delete(
    namespace: string,
    name: string,
    preconditions: Preconditions,
    context: WriteContext,
  ): Promise<{ last: T; gone: boolean }> {
    for (let attempt = 1; attempt <= updateAttempts; attempt++) {
      const stored = this.get(namespace, name);
      const old = this.encoding.read(stored);
      this.#checkPreconditions(name, old, preconditions);
      this.#admit('delete', '', context, undefined, old);
      this.#options.strategy.beforeDelete?.(old);
      const next = this.#terminating(old);
      if (this.#isFinished(next)) {
        const outcome = await this.#commit(stored.key, stored, null, context);
        if (outcome.ok) return { last: old, gone: true };
      } else {
        if (old.metadata?.deletionTimestamp !== undefined) return { last: old, gone: false };
        const outcome = await this.#commit(stored.key, stored, this.encoding.encode(next), context);
        if (outcome.ok) return { last: next, gone: false };
      }
      if (preconditions.resourceVersion) break;
    }
    throw conflict(this.kind, this.groupSuffix, name, modified);
  }

  #now(): number {
    return this.#options.clock.now();
  }

  #prepareNew(object: T, context: WriteContext): T {
    const prepared = this.kind.prepare(object, undefined);
    return this.kind.default(this.#options.strategy.beforeCreate?.(prepared, context) ?? prepared);
  }

  #prepareChange(object: T, old: T, subresource: string): T {
    const metadata = carriedMetadata(object.metadata ?? {}, old);
    const parts = this.kind.subresources;
    const own = parts.find((part) => part.name === subresource)?.fields;
    const ofOthers = parts.filter((part) => part.name !== subresource).flatMap((part) => part.fields);
    const next = own === undefined ? merged(object, old, ofOthers) : merged(old, object, own);
    return this.kind.default(this.kind.prepare({ ...next, metadata }, old));
  }

  #validate(next: T, old: T | undefined): void {
    const causes: Cause[] = [
      ...validateMetadata(this.kind, next, old),
      ...missingFields(this.kind.root, next),
    ];
    // a rule of the kind may rely on required fields
    if (causes.length === 0) {
      causes.push(...this.kind.validate(next, old), ...(this.#options.strategy.check?.(next, old) ?? []));
    }
    if (causes.length > 0) throw invalid(this.kind, this.groupSuffix, shownName(next), causes);
  }

  #admit(
    verb: 'create' | 'update' | 'delete',
    subresource: string,
    context: WriteContext,
    next: T | undefined,
    old: T | undefined,
  ): void {
    const { name = '', namespace = '' } = (next ?? old)?.metadata ?? {};
    const write = { verb, resource: this.kind.resource, subresource, name, namespace };
    for (const admit of this.#options.admission) admit(context.user, write, next, old);
  }

  #checkPreconditions(name: string, old: T, wanted: Preconditions): void {
    const { uid, resourceVersion } = old.metadata ?? {};
    if (wanted.uid && wanted.uid !== uid) {
      const why = `Precondition failed: UID in precondition: ${wanted.uid}, UID in object meta: ${uid}`;
      throw conflict(this.kind, this.groupSuffix, name, why);
    }
    if (wanted.resourceVersion && wanted.resourceVersion !== resourceVersion) {
      throw conflict(this.kind, this.groupSuffix, name, modified);
    }
  }

  #terminating(old: T): T {
    const metadata = {
      ...old.metadata,
      deletionTimestamp: old.metadata?.deletionTimestamp ?? timestamp(this.#now()),
      deletionGracePeriodSeconds: 0,
    };
    const next = { ...old, metadata };
    return this.#options.strategy.onTerminating?.(next) ?? next;
  }

  #isFinished(object: T): boolean {
    const { deletionTimestamp, finalizers = [] } = object.metadata ?? {};
    if (deletionTimestamp === undefined || finalizers.length > 0) return false;
    return !this.#options.strategy.isHeld?.(object);
  }

  /** Throws for every failure but a conflict. */
  async #commit(
    key: string,
    previous: Stored | undefined,
    value: Uint8Array | null,
    context: WriteContext,
  ): Promise<Extract<Outcome, { ok: true } | { code: 'conflict' }>> {
    const expect = previous?.revision ?? 0;
    if (context.dryRun) return this.#pretend(key, previous, value);
    const outcome = await this.storage.commit({ key, expect, value, previous });
    if (outcome.ok || outcome.code === 'conflict') return outcome;
    throw storageFailure(outcome.code, outcome.cause);
  }

  /** What a commit would have answered. */
  #pretend(key: string, previous: Stored | undefined, value: Uint8Array | null) {
    const now = this.storage.get(key) ?? null;
    const revision = this.storage.applied;
    if ((now?.revision ?? 0) !== (previous?.revision ?? 0)) {
      return { ok: false, code: 'conflict', now, revision } as const;
    }
    const createRevision = previous?.createRevision ?? revision;
    const pretended = value && { key, revision: previous?.revision ?? 0, createRevision, value };
    return { ok: true, revision, now: pretended } as const;
  }
}

/** Whether a write changes nothing, in whatever order the fields came. */
function isUnchanged(value: Uint8Array, stored: Stored, next: ApiObject, old: ApiObject): boolean {
  if (value.length !== stored.value.length) return false;
  if (Buffer.compare(value, stored.value) === 0) return true;
  const metadata = { ...next.metadata, resourceVersion: old.metadata?.resourceVersion };
  return isDeepStrictEqual({ ...next, metadata }, old);
}

/** Longer than any name that could be valid. */
const longestShown = 4096;

/** The name in an answer that refuses it. */
function shownName({ metadata }: ApiObject): string {
  return (metadata?.name ?? '').slice(0, longestShown);
}

/** `base` with the given fields taken from `source`; a field that `source` lacks is taken away. */
function merged<T extends ApiObject>(base: T, source: T, fields: readonly string[]): T {
  const result = { ...base };
  for (const field of fields) {
    Reflect.deleteProperty(result, field);
    const value: unknown = Reflect.get(source, field);
    if (value !== undefined) Reflect.set(result, field, value);
  }
  return result;
}
