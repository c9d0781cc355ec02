import type { ApiObject } from '../../../api/index.ts';
import { StatusError } from '../../../api/index.ts';
import { answerWith, wantedObject } from '../own-form.ts';
import type { Answer, ApiRequest } from '../request.ts';
import { readWriteBody } from './write-body.ts';

/** PUT to an object or to one of its subresources: 200, or 201 when it creates the object (specification, 4.2). */
export async function update(request: ApiRequest): Promise<Answer> {
  const { resource, namespace, name, subresource } = request;
  const { object, context, warnings } = readWriteBody(request, 'UpdateOptions');
  checkName(object.metadata?.name, name);
  const make = (stored: ApiObject) => wantedObject(request, stored, object);
  const change = { make, operation: 'Update' } as const;
  const { stored, created } =
    subresource === ''
      ? await resource.put({ namespace, name }, object, context, () => request.authorize('create'))
      : { stored: await resource.change({ namespace, name }, change, subresource, context), created: false };
  return answerWith(request, stored, created ? 201 : 200, warnings);
}

/** Throws 400 unless the name in the body is the one in the path. */
export function checkName(given: string | undefined, name: string): void {
  if (given === name) return;
  const givenText = given ? JSON.stringify(given) : 'missing';
  const message = `the name of the object (${givenText}) does not match the name on the URL (${JSON.stringify(name)})`;
  throw new StatusError('BadRequest', message);
}
