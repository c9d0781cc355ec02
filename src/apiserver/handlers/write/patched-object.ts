import type { ApiObject, Decoded } from '../../../api/index.ts';
import {
  apiVersionOf,
  applyJsonPatch,
  applyMergePatch,
  applyStrategicPatch,
  DecodeError,
  decodeValue,
  invalid,
  invalidValue,
  PatchError,
  StatusError,
} from '../../../api/index.ts';
import type { ApiRequest } from '../request.ts';
import type { GivenPatch } from './read-patch.ts';
import { checkName } from './update.ts';
import { settleNamespace, withoutZeroVersion } from './write-body.ts';

/**
 * What a patch makes of a stored object, checked as an object that was sent. It is still the same object: throws 400 for
 * another name or namespace, and 422 for another uid, kind or apiVersion, for what is no object of the kind, and for a
 * patch that cannot be applied to this object.
 */
export function patchedObject(request: ApiRequest, patch: GivenPatch, stored: ApiObject): Decoded<ApiObject> {
  const { kind, groupSuffix } = request.resource;
  const value = patched(request, patch, stored);
  const { object, complaints } = refusingWrong(request, patch, () =>
    decodeValue(kind, apiVersionOf(kind, groupSuffix), value),
  );
  const wanted = settleNamespace(request, withoutZeroVersion(object));
  checkName(wanted.metadata?.name, request.name);
  checkUid(request, wanted, stored);
  return { object: wanted, complaints };
}

/** 422 for a patch that makes something of an object that it cannot be. */
function refusePatch(request: ApiRequest, { value }: GivenPatch, why: string): StatusError {
  const { sensitive } = request.resource.kind;
  const cause = invalidValue('patch', value, why);
  return refused(request, sensitive ? { ...cause, message: `Invalid value: ${why}` } : cause);
}

/** Shares nothing with the stored object or the patch, both of which are used again. */
function patched(request: ApiRequest, patch: GivenPatch, stored: ApiObject): unknown {
  const { root } = request.resource.kind;
  try {
    if (patch.format === 'json') return applyJsonPatch(stored, patch.value);
    if (patch.format === 'merge') return applyMergePatch(stored, patch.value);
    return applyStrategicPatch(root, { ...stored }, patch.value);
  } catch (error) {
    if (error instanceof PatchError) throw fromPatchError(request, error);
    throw error;
  }
}

function fromPatchError(request: ApiRequest, error: PatchError): StatusError {
  const { message, reason } = error;
  if (reason === 'malformed') return new StatusError('BadRequest', message, { cause: error });
  if (reason === 'tooLarge') {
    return new StatusError('RequestEntityTooLarge', `Request entity too large: ${message}`, { cause: error });
  }
  return refused(request, { reason: 'FieldValueInvalid', field: 'patch', message });
}

function refusingWrong<T>(request: ApiRequest, patch: GivenPatch, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof DecodeError) throw refusePatch(request, patch, error.message);
    throw error;
  }
}

function checkUid(request: ApiRequest, { metadata }: ApiObject, stored: ApiObject): void {
  const uid = metadata?.uid;
  if (uid === undefined || uid === '' || uid === stored.metadata?.uid) return;
  throw refused(request, invalidValue('metadata.uid', uid, 'field is immutable'));
}

function refused({ resource, name }: ApiRequest, cause: ReturnType<typeof invalidValue>): StatusError {
  return invalid(resource.kind, resource.groupSuffix, name, [cause]);
}
