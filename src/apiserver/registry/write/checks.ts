import type { ApiObject, Cause, ObjectMeta, StatusError } from '../../../api/index.ts';
import {
  conflict,
  findMissingFields,
  invalid,
  validateLifetime,
  validateMetadata,
} from '../../../api/index.ts';
import type { WriteContext } from '../strategy.ts';
import { managersCauses } from './managed-fields.ts';
import type { Parts } from './resource-parts.ts';

/** What must be so of the stored object, else 409. */
export interface Preconditions {
  uid?: string;
  resourceVersion?: string;
}

export function checkPreconditions<T extends ApiObject>(
  parts: Parts<T>,
  name: string,
  { uid, resourceVersion }: Preconditions,
  wanted: Preconditions,
): void {
  if (wanted.uid && wanted.uid !== uid) {
    const why = `Precondition failed: UID in precondition: ${wanted.uid}, UID in object meta: ${uid ?? ''}`;
    throw conflict(parts.kind, parts.groupSuffix, name, why);
  }
  if (wanted.resourceVersion && wanted.resourceVersion !== resourceVersion) throw modified(parts, name);
}

/** As `checkPreconditions`, of a deletion: in the words of the reference. */
export function checkDeletable<T extends ApiObject>(
  { kind, groupSuffix }: Parts<T>,
  name: string,
  { uid = '', resourceVersion = '' }: Preconditions,
  wanted: Preconditions,
): void {
  const refuse = (what: string, given: string, found: string, guess: string) =>
    conflict(
      kind,
      groupSuffix,
      name,
      `the ${what} in the precondition (${given}) does not match the ${what} in record (${found}). The object might have been ${guess}`,
    );
  if (wanted.uid && wanted.uid !== uid) throw refuse('UID', wanted.uid, uid, 'deleted and then recreated');
  if (wanted.resourceVersion && wanted.resourceVersion !== resourceVersion)
    throw refuse('ResourceVersion', wanted.resourceVersion, resourceVersion, 'modified');
}

/** The error of a write to an object that has changed meanwhile. */
export function modified<T extends ApiObject>({ kind, groupSuffix }: Parts<T>, name: string): StatusError {
  const why = 'the object has been modified; please apply your changes to the latest version and try again';
  return conflict(kind, groupSuffix, name, why);
}

/** What a client has sent for a write. */
export interface Given {
  given?: ObjectMeta;
  /** The managers of its fields, when the client replaces them. */
  managers?: ObjectMeta['managedFields'] | undefined;
  subresource?: string;
}

/** Throws Invalid with everything that is wrong with an object that is about to be stored. */
export function validate<T extends ApiObject>(
  parts: Parts<T>,
  next: T,
  old: T | undefined,
  { given = {}, managers, subresource = '' }: Given = {},
): void {
  const { kind, strategy } = parts;
  const causes: Cause[] = old === undefined ? [] : validateLifetime(given, old.metadata ?? {});
  causes.push(...validateMetadata(kind, next, old), ...managersCauses(managers));
  causes.push(...findMissingFields(kind.root, next));
  // a rule of the kind may rely on required fields
  if (causes.length === 0) {
    causes.push(...kind.validate(next, old), ...(strategy.check?.(next, old, subresource) ?? []));
  }
  if (causes.length > 0) throw invalid(kind, parts.groupSuffix, truncateName(next), causes);
}

/** Asks admission about a write; throws what it throws. */
export function admit<T extends ApiObject>(
  parts: Parts<T>,
  verb: 'create' | 'update' | 'delete',
  subresource: string,
  context: WriteContext,
  next: T | undefined,
  old: T | undefined,
): void {
  const { name = '', namespace = '' } = (next ?? old)?.metadata ?? {};
  const write = { verb, resource: parts.kind.resource, subresource, name, namespace };
  for (const ask of parts.admission) ask(context.user, write, next, old);
}

/** Tells the client what it should know of an object that was accepted nevertheless. */
export function warn<T extends ApiObject>(
  parts: Parts<T>,
  next: T,
  old: T | undefined,
  context: WriteContext,
): void {
  if (context.warn === undefined) return;
  for (const text of parts.kind.warnings(next, old)) context.warn(text);
  for (const text of parts.advice?.(parts.kind.resource, next) ?? []) context.warn(text);
}

/** Longer than any name that could be valid. */
const maxValueLength = 4096;

/** The name in an answer that refuses it. */
function truncateName({ metadata }: ApiObject): string {
  return (metadata?.name ?? '').slice(0, maxValueLength);
}
