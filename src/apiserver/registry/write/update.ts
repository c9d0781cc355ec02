import type { ApiObject, Kind } from '../../../api/index.ts';
import { invalid } from '../../../api/index.ts';
import type { Stored } from '../../storage/index.ts';
import { isNewest } from '../confirm.ts';
import { carriedMetadata } from '../metadata.ts';
import type { Change as StrategyChange, WriteContext } from '../strategy.ts';
import { admit, checkPreconditions, modified, validate, warn } from './checks.ts';
import { commit, commitCharged, getStored, undoOvertaken } from './commit.ts';
import { isFinished } from './deletion-plan.ts';
import { keyOf } from './keys.ts';
import type { WriteOperation } from './managed-fields.ts';
import { isSame, managersSaid, withManagers } from './managed-fields.ts';
import { withOwnFields } from './own-fields.ts';
import type { Again } from './prepare-write.ts';
import { prepareWrite, withGeneration } from './prepare-write.ts';
import type { Parts, Place } from './resource-parts.ts';
import { updateAttempts } from './resource-parts.ts';

/** How a change makes the object that is wanted from the stored one, which it leaves as it is. */
export interface Change<T extends ApiObject> {
  /** Called again with each state that the change meets; may throw to refuse the change. */
  make(stored: T): T;
  /** `Apply` where `make` has already settled who manages which field; `Update` where that follows from what changed. */
  operation: WriteOperation;
  /** Only with `Apply`. */
  again?: Again<T>;
}

/**
 * Replaces an object, or through a subresource the part of it that the subresource stands for. Without a
 * resourceVersion the write is unconditional, where the kind allows that. Throws NotFound, Conflict and Invalid.
 */
export function updateObject<T extends ApiObject>(
  parts: Parts<T>,
  place: Place,
  object: T,
  subresource: string,
  context: WriteContext,
): Promise<Stored> {
  return changeObject(parts, place, { make: () => object, operation: 'Update' }, subresource, context);
}

/** Changes an object, again when another write comes in between. Throws NotFound, Conflict and Invalid. */
export async function changeObject<T extends ApiObject>(
  parts: Parts<T>,
  place: Place,
  change: Change<T>,
  subresource: string,
  context: WriteContext,
): Promise<Stored> {
  const first = await tryChange(parts, place, change, subresource, context);
  return first ?? (await retryChange(parts, place, change, subresource, context));
}

/** Tries again after another write came first: the retries of one object run one after the other. */
async function retryChange<T extends ApiObject>(
  parts: Parts<T>,
  place: Place,
  change: Change<T>,
  subresource: string,
  context: WriteContext,
): Promise<Stored> {
  using _lock = await parts.retries.acquire(keyOf(parts.kind, place.namespace, place.name));
  for (let attempt = 2; attempt <= updateAttempts; attempt++) {
    const landed = await tryChange(parts, place, change, subresource, context);
    if (landed !== undefined) return landed;
  }
  throw modified(parts, place.name);
}

/** Undefined when another write came first. */
async function tryChange<T extends ApiObject>(
  parts: Parts<T>,
  place: Place,
  change: Change<T>,
  subresource: string,
  context: WriteContext,
): Promise<Stored | undefined> {
  const stored = getStored(parts, place);
  const old = parts.encoding.read(stored);
  const next = changed(parts, place, old, change, subresource, context);
  const landed = await replaceStored(parts, stored, next, old, context, subresource);
  if (landed !== undefined) warn(parts, next, old, context);
  return landed;
}

/** What is to be stored instead of `old`; throws what refuses it. */
function changed<T extends ApiObject>(
  parts: Parts<T>,
  place: Place,
  old: T,
  change: Change<T>,
  subresource: string,
  context: WriteContext,
): T {
  const wanted = change.make(old);
  const given = wanted.metadata ?? {};
  checkPreconditions(parts, place.name, old.metadata ?? {}, given);
  if (!given.resourceVersion && !parts.kind.unconditionalUpdate) throw unconditional(parts, place.name);
  const prepare = (object: T) =>
    prepareChange(parts, object, old, { subresource, now: parts.clock.now(), context });
  const { object, prepared } = prepareWrite(
    parts.kind,
    { object: wanted, live: old, again: change.again },
    prepare,
  );
  const { operation } = change;
  const managers = managersSaid(operation, object.metadata ?? {}, old.metadata, subresource);
  const managed = withManagers(parts, prepared, old, { operation, given: managers, subresource, context });
  admit(parts, 'update', subresource, context, managed, old);
  const { strategy, stored } = parts;
  const admitted = strategy.admit?.(managed, old, { subresource, context, stored }) ?? managed;
  const next = admitted === managed ? managed : withGenerationOfResult(parts.kind, admitted, old);
  const said = operation === 'Apply' ? undefined : managers; // what is settled here is in order
  validate(parts, next, old, { given, managers: said, subresource });
  return next;
}

/** What was filled in may be what the object had before, so that its desired state is the same after all. */
function withGenerationOfResult<T extends ApiObject>(kind: Kind<T>, next: T, old: T): T {
  const { generation: _next, ...metadata } = next.metadata ?? {};
  const { generation } = old.metadata ?? {};
  return withGeneration(
    kind,
    { ...next, metadata: { ...metadata, ...(generation === undefined ? {} : { generation }) } },
    old,
  );
}

/** What is stored then; undefined when another write came first. Without a subresource no quota is asked. */
export async function replaceStored<T extends ApiObject>(
  parts: Parts<T>,
  stored: Stored,
  next: T,
  old: T,
  context: WriteContext,
  subresource?: string,
): Promise<Stored | undefined> {
  const value = parts.encoding.encode(next);
  if (Buffer.compare(value, stored.value) === 0 || isSame(parts.kind, next, old)) {
    return (await isNewest(parts.storage, stored)) ? stored : undefined;
  }
  using _held = context.dryRun ? undefined : parts.strategy.hold?.(next);
  const isLast = isFinished(next, parts.strategy); // the last finalizer went: the object goes with it
  const { key } = stored;
  const outcome = await (isLast || subresource === undefined
    ? commit(parts, key, stored, isLast ? null : value, context)
    : commitCharged(parts, { key, previous: stored, value, next, old, subresource }, context));
  if (!outcome.ok) return undefined;
  if (outcome.now !== null && parts.strategy.overtaken)
    await undoOvertaken(parts, outcome.now, stored.value, context);
  return outcome.now ?? { ...stored, revision: outcome.revision, value };
}

function prepareChange<T extends ApiObject>(
  { kind, strategy, gates }: Parts<T>,
  object: T,
  old: T,
  how: StrategyChange,
): T {
  const metadata = carriedMetadata(object.metadata ?? {}, old);
  const sent = withOwnFields(kind, how.subresource, { ...object, metadata }, old);
  const prepared = kind.prepare(strategy.withoutGated?.(sent, old, gates) ?? sent, old);
  const changed = strategy.beforeUpdate?.(prepared, old, how) ?? prepared;
  return withGeneration(kind, kind.default(changed), old);
}

function unconditional<T extends ApiObject>({ kind, groupSuffix }: Parts<T>, name: string) {
  const field = 'metadata.resourceVersion';
  const message = 'Invalid value: 0x0: must be specified for an update';
  const named = { ...kind, kind: kind.resource }; // as the reference names it here
  return invalid(named, groupSuffix, name, [{ reason: 'FieldValueInvalid', field, message }]);
}
