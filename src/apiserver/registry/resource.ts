import type { ApiObject, Kind, ObjectMeta } from '../../api/index.ts';
import { KeyedMutex } from '../../base/index.ts';
import type { CachedStore, Stored } from '../storage/index.ts';
import type { ObjectEncoding } from './encoding.ts';
import { objectEncoding } from './encoding.ts';
import { FieldIndex } from './field-index.ts';
import type { Follower } from './follower.ts';
import { followKeys } from './follower.ts';
import { SecondText } from './metadata.ts';
import type { WriteContext } from './strategy.ts';
import type { Application } from './write/apply.ts';
import { applyObject } from './write/apply.ts';
import { changeMetadata } from './write/change-metadata.ts';
import { getStored } from './write/commit.ts';
import { createObject } from './write/create.ts';
import type { Deleted } from './write/delete.ts';
import { deleteObject } from './write/delete.ts';
import type { Deletion } from './write/deletion-plan.ts';
import { prefixOf } from './write/keys.ts';
import type { Put } from './write/put.ts';
import { putObject } from './write/put.ts';
import type { Parts, Place, ResourceOptions } from './write/resource-parts.ts';
import type { Change } from './write/update.ts';
import { changeObject, updateObject } from './write/update.ts';

/** The objects of one kind: what the verbs do with them, whatever transport asked for it. */
export class Resource<T extends ApiObject = ApiObject> {
  readonly kind: Kind<T>;
  readonly encoding: ObjectEncoding<T>;
  readonly #parts: Parts<T>;
  readonly #indexes = new Map<string, FieldIndex>();
  readonly #parsed = new WeakMap<Stored, T>();

  constructor(options: ResourceOptions<T>) {
    this.kind = options.kind;
    this.encoding = objectEncoding(options.kind, options.groupSuffix);
    this.#parts = {
      ...options,
      encoding: this.encoding,
      retries: new KeyedMutex(),
      seconds: new SecondText(),
    };
  }

  get storage(): CachedStore {
    return this.#parts.storage;
  }

  get groupSuffix(): string {
    return this.#parts.groupSuffix;
  }

  prefix(namespace: string): string {
    return prefixOf(this.kind, namespace);
  }

  /** Where the object with a key of this kind is. */
  placeOf(key: string): Place {
    const rest = key.slice(this.prefix('').length);
    const end = this.kind.namespaced ? rest.indexOf('/') : -1;
    return { namespace: rest.slice(0, Math.max(0, end)), name: rest.slice(end + 1) };
  }

  /** Calls a follower for the objects in a namespace, or for all where it is empty, until the result is disposed of. */
  follow(follower: Follower, namespace = ''): Disposable {
    return followKeys(this.storage, this.prefix(namespace), follower);
  }

  /** Finds objects by a field that the kind has indexed; undefined for any other field. Made when first asked for. */
  index(path: string): FieldIndex | undefined {
    const made = this.#indexes.get(path);
    const field = this.kind.selectable.find((candidate) => candidate.path === path && candidate.indexed);
    if (made !== undefined || field === undefined) return made;
    const fieldOf = (stored: Stored) => field.value(this.encoding.read(stored));
    const index = new FieldIndex(this.storage, this.prefix(''), fieldOf);
    this.#indexes.set(path, index);
    return index;
  }

  /** As `encoding.read`, but each state is parsed only once: for objects that are looked at often, and not changed. */
  readShared(stored: Stored): Readonly<T> {
    const known = this.#parsed.get(stored);
    if (known !== undefined) return known;
    const object = this.encoding.read(stored);
    this.#parsed.set(stored, object);
    return object;
  }

  /** The stored object; throws NotFound. */
  get(namespace: string, name: string): Stored {
    return getStored(this.#parts, { namespace, name });
  }

  /** Creates; throws AlreadyExists, Invalid and what admission and the store say. */
  create(namespace: string, object: T, context: WriteContext): Promise<Stored> {
    return createObject(this.#parts, namespace, object, context);
  }

  /**
   * Replaces an object, or through a subresource the part of it that the subresource stands for. Without a
   * resourceVersion the write is unconditional, where the kind allows that.
   */
  update(
    namespace: string,
    name: string,
    object: T,
    subresource: string,
    context: WriteContext,
  ): Promise<Stored> {
    return updateObject(this.#parts, { namespace, name }, object, subresource, context);
  }

  /** Replaces an object, or creates it where the kind allows that and `mayCreate` does not throw. */
  put(place: Place, object: T, context: WriteContext, mayCreate: () => Promise<void>): Promise<Put> {
    return putObject(this.#parts, place, object, context, mayCreate);
  }

  /** Server-side apply; creates an object that is not there, where `mayCreate` does not throw. */
  apply(
    place: Place,
    application: Application<T>,
    context: WriteContext,
    mayCreate: () => Promise<void>,
  ): Promise<Put> {
    return applyObject(this.#parts, place, application, context, mayCreate);
  }

  /** Changes an object through its own path or a subresource, again when another write comes in between. */
  change(place: Place, change: Change<T>, subresource: string, context: WriteContext): Promise<Stored> {
    return changeObject(this.#parts, place, change, subresource, context);
  }

  /** Changes metadata for one of the control plane's own parts; the rest of the object is not looked at. */
  changeMetadata(
    place: Place,
    uid: string,
    change: (metadata: ObjectMeta) => ObjectMeta,
    context: WriteContext,
  ): Promise<Stored> {
    return changeMetadata(this.#parts, place, uid, change, context);
  }

  /**
   * Deletes at once, or begins the deletion of an object that has something to finish (specification, section
   * 3.1). Tells the last state and whether the object is gone.
   */
  delete(namespace: string, name: string, deletion: Deletion, context: WriteContext): Promise<Deleted<T>> {
    return deleteObject(this.#parts, { namespace, name }, deletion, context);
  }
}
