import type { ApiObject } from '../../api/index.ts';
import { findMissingFields, invalid, StatusError } from '../../api/index.ts';
import type { Operation, OperationRequest, OperationResult } from './types.ts';

/** Defaults and validates the body, then runs the operation. Throws Invalid and what the operation throws. */
export async function runOperation(
  operation: Operation,
  request: OperationRequest,
): Promise<OperationResult> {
  const { body: type } = operation;
  const { name, registry } = request;
  checkName(request.body, name, type.kind);
  const body = withoutManagers(type.default(operation.prepare?.(request) ?? request.body));
  const causes = findMissingFields(type.root, body);
  if (causes.length === 0) causes.push(...type.validate(body, undefined));
  const named = { ...type, resource: type.kind };
  if (causes.length > 0) throw invalid(named, registry.groupSuffix, body.metadata?.name ?? '', causes);
  return await operation.run({ ...request, body });
}

/** An object that is not stored has no managers, whatever its body says. */
function withoutManagers(body: ApiObject): ApiObject {
  if (body.metadata?.managedFields === undefined) return body;
  const { managedFields: _said, ...metadata } = body.metadata;
  return { ...body, metadata };
}

function checkName({ metadata }: ApiObject, name: string, kind: string): void {
  if (name === '' || !metadata?.name || metadata.name === name) return;
  const message = `the name in the ${kind} (${JSON.stringify(metadata.name)}) does not match the name on the URL (${JSON.stringify(name)})`;
  throw new StatusError('BadRequest', message);
}
