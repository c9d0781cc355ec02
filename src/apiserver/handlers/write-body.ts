import type { ApiObject } from '../../api/index.ts';
import { apiVersionOf, decodeObject, StatusError } from '../../api/index.ts';
import type { WriteContext } from '../registry/index.ts';
import { dryRunParameter, fieldValidationParameter } from './parameters.ts';
import type { ApiRequest } from './request.ts';

/** The object in the body of a create or update, with what the write's parameters say. */
export interface WriteBody {
  object: ApiObject;
  context: WriteContext;
  warnings: string[];
}

/** Reads the body and the parameters of a write; throws 400 and 422 (specification, sections 4.8 and 4.9). */
export function readWriteBody(
  request: ApiRequest,
  optionsKind: 'CreateOptions' | 'UpdateOptions',
): WriteBody {
  const { query, resource } = request;
  const level = fieldValidationParameter(query, optionsKind);
  const context: WriteContext = { user: request.user, dryRun: dryRunParameter(query, optionsKind) };
  checkFieldManager(query.get('fieldManager'));
  const { object, complaints } = decodeObject(
    resource.kind,
    apiVersionOf(resource.kind, resource.groupSuffix),
    request.body,
  );
  if (level === 'Strict' && complaints.length > 0) {
    throw new StatusError('BadRequest', `strict decoding error: ${complaints.join(', ')}`);
  }
  checkNamespace(request, object);
  return { object, context, warnings: level === 'Warn' ? complaints : [] };
}

const managerLimit = 128;

function checkFieldManager(manager: string | null): void {
  if (manager === null || manager === '') return;
  const printable = /^\P{C}*$/u.test(manager);
  if (printable && manager.length <= managerLimit) return;
  const message = `fieldManager must be at most ${managerLimit} printable characters`;
  throw new StatusError('Invalid', message, {
    details: { causes: [{ reason: 'FieldValueInvalid', field: 'fieldManager', message }] },
  });
}

function checkNamespace(request: ApiRequest, object: ApiObject): void {
  const given = object.metadata?.namespace;
  if (!given || given === request.namespace) return;
  const message = request.resource.kind.namespaced
    ? `the namespace of the provided object does not match the namespace sent on the request: ${given} is not ${request.namespace}`
    : `${request.resource.kind.resource} belong to no namespace, but the body names ${given}`;
  throw new StatusError('BadRequest', message);
}
