import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../api/index.ts';
import { invalid } from '../../api/index.ts';
import type { Stored } from '../storage/index.ts';
import { admit, checkPreconditions, modified, validate, warn } from './checks.ts';
import { commit, getStored } from './commit.ts';
import { isFinished } from './deletion-plan.ts';
import { withGeneration } from './generation.ts';
import { carriedMetadata } from './metadata.ts';
import type { Parts, Place } from './parts.ts';
import { updateAttempts } from './parts.ts';
import type { WriteContext } from './strategy.ts';

/**
 * Replaces an object, or through a subresource the part of it that the subresource stands for. Without a
 * resourceVersion the write is unconditional, where the kind allows that. Throws NotFound, Conflict and Invalid.
 */
export async function updateObject<T extends ApiObject>(
  parts: Parts<T>,
  place: Place,
  object: T,
  subresource: string,
  context: WriteContext,
): Promise<Stored> {
  const given = object.metadata ?? {};
  for (let attempt = 1; attempt <= updateAttempts; attempt++) {
    const stored = getStored(parts, place);
    const old = parts.encoding.read(stored);
    checkPreconditions(parts, place.name, old.metadata ?? {}, given);
    if (!given.resourceVersion && !parts.kind.unconditionalUpdate) throw unconditional(parts, place.name);
    const next = prepareChange(parts, object, old, subresource);
    admit(parts, 'update', subresource, context, next, old);
    validate(parts, next, old, { given, subresource });
    const landed = await replaceStored(parts, stored, next, old, context);
    if (landed !== undefined) {
      warn(parts, next, old, context);
      return landed;
    }
  }
  throw modified(parts, place.name);
}

/** What is stored then; undefined when another write came first. */
export async function replaceStored<T extends ApiObject>(
  parts: Parts<T>,
  stored: Stored,
  next: T,
  old: T,
  context: WriteContext,
): Promise<Stored | undefined> {
  const value = parts.encoding.encode(next);
  if (isUnchanged(value, stored, next, old)) return stored;
  const isLast = isFinished(next, parts.strategy); // the last finalizer went: the object goes with it
  const outcome = await commit(parts, stored.key, stored, isLast ? null : value, context);
  if (!outcome.ok) return undefined;
  return outcome.now ?? { ...stored, revision: outcome.revision, value };
}

function prepareChange<T extends ApiObject>(
  { kind, strategy, clock, gates }: Parts<T>,
  object: T,
  old: T,
  subresource: string,
): T {
  const metadata = carriedMetadata(object.metadata ?? {}, old);
  const parts = kind.subresources;
  const own = parts.find((part) => part.name === subresource)?.fields;
  const others = parts.filter((part) => part.name !== subresource && !part.shared);
  const ofOthers = others.flatMap((part) => part.fields);
  const next = own === undefined ? merged(object, old, ofOthers) : merged(old, object, own);
  const sent = { ...next, metadata };
  const prepared = kind.prepare(strategy.withoutGated?.(sent, old, gates) ?? sent, old);
  const changed = strategy.beforeUpdate?.(prepared, old, { subresource, now: clock.now() }) ?? prepared;
  return withGeneration(kind, kind.default(changed), old);
}

function unconditional<T extends ApiObject>({ kind, groupSuffix }: Parts<T>, name: string) {
  const field = 'metadata.resourceVersion';
  const message = 'Invalid value: 0x0: must be specified for an update';
  const named = { ...kind, kind: kind.resource }; // as the reference names it here
  return invalid(named, groupSuffix, name, [{ reason: 'FieldValueInvalid', field, message }]);
}

/** Whether a write changes nothing, in whatever order the fields came. */
function isUnchanged(value: Uint8Array, stored: Stored, next: ApiObject, old: ApiObject): boolean {
  if (value.length !== stored.value.length) return false;
  if (Buffer.compare(value, stored.value) === 0) return true;
  const metadata = { ...next.metadata, resourceVersion: old.metadata?.resourceVersion };
  return isDeepStrictEqual({ ...next, metadata }, old);
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
