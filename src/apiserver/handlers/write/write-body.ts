import type { ApiObject } from '../../../api/index.ts';
import { apiVersionOf, decodeObject, StatusError } from '../../../api/index.ts';
import type { WriteContext } from '../../registry/index.ts';
import type { ApiRequest } from '../request.ts';
import { bodyTypeOf } from '../request.ts';
import { readWriteOptions } from './write-options.ts';

/** The object in the body of a create or update, with the options of the write. */
export interface WriteBody {
  object: ApiObject;
  context: WriteContext;
  /** Complaints about the body; those of the write itself are added while it runs. */
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
    throw new StatusError(
      'BadRequest',
      `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: strict decoding error: ${complaints.join(', ')}`,
    );
  }
  const warnings = fieldValidation === 'Warn' ? complaints : [];
  request.complain?.([...warnings]);
  const warn = (text: string) => void warnings.push(text);
  return {
    object: settleNamespace(request, withoutZeroVersion(object)),
    context: { user, dryRun, manager, warn },
    warnings,
  };
}

/** As in the reference, version 0 in a body means none. */
export function withoutZeroVersion<T extends ApiObject>(object: T): T {
  if (object.metadata?.resourceVersion !== '0') return object;
  const { resourceVersion: _version, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** As in the reference, removes the namespace of a cluster-scoped object; of any other it must match the path. */
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
