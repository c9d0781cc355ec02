import { answerWith } from '../own-form.ts';
import type { Answer, ApiRequest } from '../request.ts';
import { readVersion, settle } from './read-version.ts';

/** GET of an object: the newest state; with a resourceVersion, one not older than it. */
export async function get(request: ApiRequest): Promise<Answer> {
  const { resource, namespace, name } = request;
  await settle(request, readVersion(request.query));
  return answerWith(request, resource.get(namespace, name), 200);
}
