import type { ApiObject, Kind } from '../../../api/index.ts';
import { apiVersionOf, notFound } from '../../../api/index.ts';
import type { Answer, ApiRequest } from '../request.ts';
import { readSelectors } from './list-selectors.ts';

/** What answers reads of a kind that is not stored. */
export interface Measured<T extends ApiObject = ApiObject> {
  readonly kind: Kind<T>;
  /** All that can be measured now in a namespace, or anywhere; with a name, that alone. What is measured has no version. */
  read(at: {
    readonly namespace: string;
    readonly name: string;
    readonly signal: AbortSignal;
  }): Promise<Measurement<T>>;
}

export interface Measurement<T> {
  readonly objects: readonly T[];
  /** Of objects that are missing though the client could expect them. */
  readonly warnings: readonly string[];
}

/** GET of an object, or of a collection, of a kind that is measured when it is read. Throws 404. */
export async function readMeasured(request: ApiRequest, measured: Measured): Promise<Answer> {
  return request.name === '' ? await list(request, measured) : await get(request, measured);
}

async function get({ resource, namespace, name, signal }: ApiRequest, measured: Measured): Promise<Answer> {
  const { objects, warnings } = await measured.read({ namespace, name, signal: signal() });
  const [object] = objects;
  if (object === undefined) throw notFound(resource.kind, resource.groupSuffix, name);
  const { kind } = resource;
  return { form: 'object', code: 200, type: kind, json: resource.encoding.encode(object), warnings };
}

/** In one chunk, whatever its limit: nothing could be continued. */
async function list(request: ApiRequest, measured: Measured): Promise<Answer> {
  const { resource, namespace, signal } = request;
  const selectors = readSelectors(request);
  const name = selectors?.exact('metadata.name') ?? '';
  const { objects, warnings } = await measured.read({ namespace, name, signal: signal() });
  const selected = objects.filter(
    (object) =>
      selectors === undefined || (selectors.labels.matches(object) && selectors.fields.matches(object)),
  );
  const items = selected.map((object) => ({
    key: `${apiVersionOf(resource.kind, resource.groupSuffix)}/${object.metadata?.name ?? ''}`,
    revision: 0,
    createRevision: 0,
    value: resource.encoding.encode(object),
  }));
  return { form: 'list', code: 200, items, metadata: {}, warnings };
}
