import type { ApiObject } from '../../../api/index.ts';
import {
  ApplyConflictError,
  applyConfiguration,
  invalid,
  PatchError,
  StatusError,
  withoutIneffectiveFields,
} from '../../../api/index.ts';
import type { WriteContext } from '../strategy.ts';
import { checkPreconditions } from './checks.ts';
import { createObject } from './create.ts';
import { writerOf } from './managed-fields.ts';
import { withOwnFields } from './own-fields.ts';
import type { Again } from './prepare-write.ts';
import type { Put } from './put.ts';
import { createOrChange } from './put.ts';
import type { Parts, Place } from './resource-parts.ts';
import { changeObject } from './update.ts';

/** What is applied, and how. */
export interface Application<T extends ApiObject> {
  /** The fields that its manager wants, and no others; zeros and empty lists count as said. */
  configuration: T;
  /** Empty for the object's own path. */
  subresource: string;
  /** Whether fields that others manage are taken over; otherwise they are a conflict. */
  force: boolean;
}

/**
 * Server-side apply (specification, section 4.10): changes an object, or creates it, except through a subresource; then
 * `mayCreate` is asked, which throws when the caller may not. Throws NotFound, Conflict and Invalid.
 */
export async function applyObject<T extends ApiObject>(
  parts: Parts<T>,
  place: Place,
  application: Application<T>,
  context: WriteContext,
  mayCreate: () => Promise<void>,
): Promise<Put> {
  const { subresource } = application;
  const make = (live: T | undefined) => wanted(parts, live, application, context);
  const again: Again<T> = (live, applied, prepared) => {
    const given = application.configuration;
    const configuration = withoutIneffectiveFields(parts.kind.root, given, { live, applied, prepared });
    return configuration === given
      ? undefined
      : wanted(parts, live, { ...application, configuration }, context);
  };
  const how = { make, operation: 'Apply', again } as const;
  const change = () => changeObject<T>(parts, place, how, subresource, context);
  if (subresource !== '') return { stored: await change(), created: false };
  return await createOrChange(parts, place, {
    change,
    async create() {
      await mayCreate();
      const object = make(undefined);
      checkPreconditions(parts, place.name, {}, object.metadata ?? {});
      return await createObject(parts, place.namespace, object, context, again);
    },
  });
}

function wanted<T extends ApiObject>(
  parts: Parts<T>,
  live: T | undefined,
  { configuration, subresource, force }: Application<T>,
  context: WriteContext,
): T {
  const { kind, seconds, clock } = parts;
  const own = withOwnFields(kind, subresource, configuration, {});
  const writer = { ...writerOf(parts, context, subresource), operation: 'Apply' as const };
  const options = { force, now: seconds.at(clock.now()) };
  try {
    const applied = applyConfiguration(kind.root, live, own, writer, options);
    const isAll = Object.keys(configuration).every((name) => name in own);
    if (live !== undefined || isAll) return applied;
    // a new object may say what has a path of its own, but its creator does not manage that
    const whole = applyConfiguration(kind.root, live, configuration, writer, options);
    return applied.metadata === undefined ? whole : { ...whole, metadata: applied.metadata };
  } catch (error) {
    throw toStatusError(parts, configuration, error);
  }
}

/** Conflicts reveal nothing of the object, as in the reference. A PatchError is invalid input, such as duplicate list items. */
function toStatusError<T extends ApiObject>(
  { kind, groupSuffix }: Parts<T>,
  { metadata }: T,
  error: unknown,
): unknown {
  if (error instanceof ApplyConflictError) {
    return new StatusError('Conflict', error.message, { details: { causes: [...error.causes] } });
  }
  if (!(error instanceof PatchError)) return error;
  const cause = { reason: 'FieldValueInvalid', field: 'patch', message: error.message } as const;
  return invalid(kind, groupSuffix, metadata?.name ?? '', [cause]);
}
