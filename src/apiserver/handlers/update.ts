import { StatusError } from '../../api/index.ts';
import type { Answer, ApiRequest } from './request.ts';
import { readWriteBody } from './write-body.ts';

/** PUT to an object or to one of its subresources. */
export async function update(request: ApiRequest): Promise<Answer> {
  const { resource, namespace, name, subresource } = request;
  const { object, context, warnings } = readWriteBody(request, 'UpdateOptions');
  const given = object.metadata?.name;
  if (given !== name) {
    const told = given ? JSON.stringify(given) : 'missing';
    const message = `the name of the object (${told}) does not match the name on the URL (${JSON.stringify(name)})`;
    throw new StatusError('BadRequest', message);
  }
  const stored = await resource.update(namespace, name, object, subresource, context);
  return { form: 'object', code: 200, json: resource.encoding.show(stored), warnings };
}
