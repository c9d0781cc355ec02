import type { Answer, ApiRequest } from '../request.ts';
import { readVersion, settle } from './read-version.ts';

/** GET of an object: the newest state; with a resourceVersion, one not older than it. */
export async function get(request: ApiRequest): Promise<Answer> {
  const { resource, namespace, name } = request;
  await settle(request, readVersion(request.query));
  return {
    form: 'object',
    code: 200,
    type: resource.kind,
    json: resource.encoding.show(resource.get(namespace, name)),
    warnings: [],
  };
}
