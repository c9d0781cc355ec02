import type { ApiObject, ObjectMeta } from '../../../api/index.ts';
import { alreadyExists, StatusError } from '../../../api/index.ts';
import type { State, Stored } from '../../storage/index.ts';
import { isReadable } from '../../storage/index.ts';
import { newMetadata } from '../metadata.ts';
import { randomSuffix, suffixLength } from '../random-suffix.ts';
import type { WriteContext } from '../strategy.ts';
import { createTakenError } from '../unreadable.ts';
import { admit, validate, warn } from './checks.ts';
import { commitCharged, undoOvertaken } from './commit.ts';
import { keyOf } from './keys.ts';
import type { WriteOperation } from './managed-fields.ts';
import { managersSaid, withManagers } from './managed-fields.ts';
import type { Again } from './prepare-write.ts';
import { prepareWrite, withGeneration } from './prepare-write.ts';
import type { Parts } from './resource-parts.ts';

const nameAttempts = 8;

/**
 * Creates; throws AlreadyExists, Invalid and what admission and the store say. With `again` the object is what was
 * applied, and says already who manages which of its fields.
 */
export async function createObject<T extends ApiObject>(
  parts: Parts<T>,
  namespace: string,
  object: T,
  context: WriteContext,
  again?: Again<T>,
): Promise<Stored> {
  const given = object.metadata ?? {};
  if (given.resourceVersion) {
    throw new StatusError('BadRequest', 'resourceVersion should not be set on objects to be created');
  }
  const providing = context.dryRun ? undefined : parts.strategy.provide?.(object, namespace, parts.stored);
  if (providing !== undefined) await providing;
  const attempts = !given.name && given.generateName ? nameAttempts : 1;
  for (let attempt = 1; ; attempt++) {
    const name = nameFor(given);
    if (parts.kind.namespaced) parts.checkNamespace(namespace, parts.kind, name);
    const metadata = metadataFor(parts, given, name, namespace);
    const prepare = (wanted: T) => prepareNew(parts, { ...wanted, metadata }, context);
    const { object: settled, prepared } = prepareWrite(
      parts.kind,
      { object, live: undefined, again },
      prepare,
    );
    const operation: WriteOperation = again === undefined ? 'Update' : 'Apply';
    const managers = managersSaid(operation, settled.metadata ?? {}, undefined, '');
    const managing = { operation, given: managers, subresource: '', context };
    const managed = withManagers(parts, prepared, undefined, managing);
    admit(parts, 'create', '', context, managed, undefined);
    const { strategy, stored } = parts;
    const next = strategy.admit?.(managed, undefined, { subresource: '', context, stored }) ?? managed;
    validate(parts, next, undefined, { given, managers: operation === 'Apply' ? undefined : managers });
    const key = keyOf(parts.kind, namespace, name);
    using _held = context.dryRun ? undefined : parts.strategy.hold?.(next);
    const value = parts.encoding.encode(next);
    const write = { key, previous: undefined, value, next, old: undefined, subresource: '' };
    const outcome = await commitCharged(parts, write, context);
    if (outcome.ok && outcome.now) {
      if (parts.strategy.overtaken) await undoOvertaken(parts, outcome.now, null, context);
      warn(parts, next, undefined, context);
      return outcome.now;
    }
    if (attempt === attempts) throw taken(parts, name, outcome.now);
  }
}

function nameFor({ name, generateName: prefix }: ObjectMeta): string {
  return !name && prefix ? generateName(prefix) : (name ?? '');
}

function metadataFor<T extends ApiObject>(
  { clock }: Parts<T>,
  given: ObjectMeta,
  name: string,
  namespace: string,
): ObjectMeta {
  return newMetadata(given, name, namespace, clock.now());
}

function prepareNew<T extends ApiObject>(parts: Parts<T>, object: T, context: WriteContext): T {
  const { kind, strategy, gates, stored } = parts;
  const ungated = strategy.withoutGated?.(object, undefined, gates) ?? object;
  const prepared = kind.prepare(ungated, undefined);
  const next = kind.default(strategy.beforeCreate?.(prepared, context, stored) ?? prepared);
  return withGeneration(kind, next, undefined);
}

function taken<T extends ApiObject>(parts: Parts<T>, name: string, now: State | null): StatusError {
  if (now !== null && !isReadable(now)) return createTakenError(parts.kind, parts.groupSuffix, name, now);
  const error = alreadyExists(parts.kind, parts.groupSuffix, name);
  if (now === null || parts.encoding.read(now).metadata?.deletionTimestamp === undefined) return error;
  const { details } = error;
  return new StatusError('AlreadyExists', `object is being deleted: ${error.message}`, {
    ...(details === undefined ? {} : { details }),
  });
}

const baseLimit = 63 - suffixLength;

/** A name from a prefix (`generateName`): the prefix, shortened to 58 characters, and five random ones. */
function generateName(prefix: string): string {
  return prefix.slice(0, baseLimit) + randomSuffix();
}
