import type { Answer, ApiRequest } from './request.ts';
import { readWriteBody } from './write-body.ts';

/** POST to a collection. */
export async function create(request: ApiRequest): Promise<Answer> {
  const { resource, namespace } = request;
  const { object, context, warnings } = readWriteBody(request, 'CreateOptions');
  const stored = await resource.create(namespace, object, context);
  return { form: 'object', code: 201, json: resource.encoding.show(stored), warnings };
}
