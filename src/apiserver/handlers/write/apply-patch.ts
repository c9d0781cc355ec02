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
  withWritten,
} from '../../../api/index.ts';
import type { ApiRequest } from '../request.ts';
import { bodyTypeOf } from '../request.ts';
import type { GivenPatch } from './read-patch.ts';
import { checkName } from './update.ts';
import { settleNamespace, withoutZeroVersion } from './write-body.ts';

/**
 * Applies a patch to a stored object, and checks the result like an object that was sent. It must remain the same object:
 * throws 400 for another name or namespace, and 422 for another uid, kind or apiVersion, for a result that is no object of
 * the kind, and for a patch that cannot be applied to this object.
 */
export function applyPatch(request: ApiRequest, patch: GivenPatch, stored: ApiObject): Decoded<ApiObject> {
  const { groupSuffix } = request.resource;
  const type = bodyTypeOf(request);
  const value = patchValue(request, patch, stored);
  const { object, complaints } = decodeOrRefuse(request, patch, () =>
    decodeValue(type, apiVersionOf(type, groupSuffix), value),
  );
  const wanted = settleNamespace(request, withoutZeroVersion(object));
  checkName(wanted.metadata?.name, request.name);
  checkUid(request, wanted, stored);
  return { object: wanted, complaints };
}

/** 422 for a patch whose result is no valid object. */
function toInvalidPatch(request: ApiRequest, { value }: GivenPatch, why: string): StatusError {
  const { sensitive } = bodyTypeOf(request);
  const cause = invalidValue('patch', value, why);
  return toInvalid(request, sensitive ? { ...cause, message: `Invalid value: ${why}` } : cause);
}

/** The result shares nothing with the stored object or the patch, because both are used again. */
function patchValue(request: ApiRequest, patch: GivenPatch, stored: ApiObject): unknown {
  const { root } = bodyTypeOf(request);
  const whole = withWritten(root, stored); // the patch is meant for what its sender has read
  try {
    if (patch.format === 'json') return applyJsonPatch(whole, patch.value);
    if (patch.format === 'merge') return applyMergePatch(whole, patch.value);
    return applyStrategicPatch(root, { ...whole }, patch.value);
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
  return toInvalid(request, { reason: 'FieldValueInvalid', field: 'patch', message });
}

function decodeOrRefuse<T>(request: ApiRequest, patch: GivenPatch, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof DecodeError) throw toInvalidPatch(request, patch, error.message);
    throw error;
  }
}

function checkUid(request: ApiRequest, { metadata }: ApiObject, stored: ApiObject): void {
  const uid = metadata?.uid;
  if (uid === undefined || uid === '' || uid === stored.metadata?.uid) return;
  throw toInvalid(request, invalidValue('metadata.uid', uid, 'field is immutable'));
}

function toInvalid(request: ApiRequest, cause: ReturnType<typeof invalidValue>): StatusError {
  return invalid(bodyTypeOf(request), request.resource.groupSuffix, request.name, [cause]);
}
