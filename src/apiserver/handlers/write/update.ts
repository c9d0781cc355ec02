import { StatusError } from '../../../api/index.ts';
import type { Answer, ApiRequest } from '../request.ts';
import { readWriteBody } from './write-body.ts';

/** PUT to an object or to one of its subresources: 200, or 201 when it creates the object (specification, 4.2). */
export async function update(request: ApiRequest): Promise<Answer> {
  const { resource, namespace, name, subresource } = request;
  const { object, context, warnings } = readWriteBody(request, 'UpdateOptions');
  checkName(object.metadata?.name, name);
  const { stored, created } =
    subresource === ''
      ? await resource.put({ namespace, name }, object, context, () => request.authorize('create'))
      : { stored: await resource.update(namespace, name, object, subresource, context), created: false };
  const json = resource.encoding.show(stored);
  return { form: 'object', code: created ? 201 : 200, type: resource.kind, json, warnings };
}

/** Throws 400 unless the name in the body is the one in the path. */
export function checkName(given: string | undefined, name: string): void {
  if (given === name) return;
  const givenText = given ? JSON.stringify(given) : 'missing';
  const message = `the name of the object (${givenText}) does not match the name on the URL (${JSON.stringify(name)})`;
  throw new StatusError('BadRequest', message);
}
