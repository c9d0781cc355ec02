import type { ApiObject } from '../../../api/index.ts';
import { apiVersionOf, decodeObject, StatusError } from '../../../api/index.ts';
import type { WriteContext } from '../../registry/index.ts';
import type { ApiRequest } from '../request.ts';
import { bodyTypeOf } from '../request.ts';
import { readWriteOptions } from './write-options.ts';

/** The object in the body of a create or update, with what the write's parameters say. */
export interface WriteBody {
  object: ApiObject;
  context: WriteContext;
  /** Complaints about the body; what the write itself has to say is added while it runs. */
  warnings: string[];
}

/** Reads the body and the parameters of a write; throws 400 and 422 (specification, sections 4.8 and 4.9). */
export function readWriteBody(
  request: ApiRequest,
  optionsKind: 'CreateOptions' | 'UpdateOptions',
): WriteBody {
  const { user, resource, body } = request;
  const { dryRun, manager, fieldValidation } = readWriteOptions(request, optionsKind);
  const type = bodyTypeOf(request);
  if (body === undefined) throw new StatusError('BadRequest', `the body is empty: send a ${type.kind}`);
  const { object, complaints } = decodeObject(type, apiVersionOf(type, resource.groupSuffix), body);
  if (fieldValidation === 'Strict' && complaints.length > 0) {
    throw new StatusError('BadRequest', `strict decoding error: ${complaints.join(', ')}`);
  }
  const warnings = fieldValidation === 'Warn' ? complaints : [];
  const warn = (text: string) => void warnings.push(text);
  return {
    object: settleNamespace(request, withoutZeroVersion(object)),
    context: { user, dryRun, manager, warn },
    warnings,
  };
}

/** Version 0 says nothing in a body, as with the reference. */
export function withoutZeroVersion<T extends ApiObject>(object: T): T {
  if (object.metadata?.resourceVersion !== '0') return object;
  const { resourceVersion: _version, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** What belongs to no namespace loses one that the body names, as with the reference; any other must agree. */
export function settleNamespace<T extends ApiObject>({ resource, namespace }: ApiRequest, object: T): T {
  const given = object.metadata?.namespace;
  if (!given || given === namespace) return object;
  if (!resource.kind.namespaced) {
    const { namespace: _namespace, ...metadata } = object.metadata ?? {};
    return { ...object, metadata };
  }
  const message = `the namespace of the provided object does not match the namespace sent on the request: ${given} is not ${namespace}`;
  throw new StatusError('BadRequest', message);
}
