import { withWritten } from '../../../api/index.ts';
import type { Operation } from '../../registry/index.ts';
import { runOperation } from '../../registry/index.ts';
import type { Answer, ApiRequest } from '../request.ts';
import { bodyTypeOf } from '../request.ts';
import type { WriteBody } from './write-body.ts';
import { readWriteBody } from './write-body.ts';

/** POST to a collection, or to a subresource. */
export async function create(request: ApiRequest): Promise<Answer> {
  const { resource, namespace, registry } = request;
  const written = readWriteBody(request, 'CreateOptions');
  const operation = registry.operation(bodyTypeOf(request));
  if (operation !== undefined) return await answerOf(request, written, operation);
  const { object, context, warnings } = written;
  const stored = await resource.create(namespace, object, context);
  return { form: 'object', code: 201, type: resource.kind, json: resource.encoding.show(stored), warnings };
}

async function answerOf(request: ApiRequest, written: WriteBody, operation: Operation): Promise<Answer> {
  const { registry, namespace, name } = request;
  const { object: body, context } = written;
  const result = await runOperation(operation, { registry, namespace, name, body, context });
  const warnings = [...written.warnings, ...(result.warnings ?? [])];
  if ('status' in result) return { form: 'status', code: 201, status: result.status, warnings };
  const json = Buffer.from(JSON.stringify(withWritten(operation.body.root, result.object)));
  return { form: 'object', code: 201, type: operation.body, json, warnings };
}
