import { StatusError } from '../../api/index.ts';
import type { Listing } from '../storage/index.ts';
import { untilNotOlder } from './get.ts';
import type { ListOptions } from './list-options.ts';
import { readListOptions } from './list-options.ts';
import type { Answer, ApiRequest } from './request.ts';

/** GET of a collection, all of it at one version. */
export async function list(request: ApiRequest): Promise<Answer> {
  const { encoding } = request.resource;
  const options = readListOptions(request);
  const { items, revision } = await listPage(request, options, '', 0);
  const selected = items.filter((stored) => options.matches?.(encoding.read(stored)) ?? true);
  return {
    form: 'list',
    code: 200,
    items: selected.map((stored) => encoding.show(stored)),
    metadata: { resourceVersion: String(revision) },
  };
}

/**
 * At most `limit` objects (0: all) after a key, at the version that the options name. Throws 410 when it is too old and
 * 504 when it does not come.
 */
export async function listPage(
  request: ApiRequest,
  { revision, match }: ListOptions,
  after: string,
  limit: number,
): Promise<Listing> {
  const { storage } = request.resource;
  const prefix = request.resource.prefix(request.namespace);
  if (match === 'Exact' && revision !== undefined) {
    const page = await storage.listAt(prefix, revision, after, limit);
    if (page === 'compacted') {
      throw new StatusError('Expired', `The resourceVersion for the provided list is too old: ${revision}`);
    }
    if (page !== 'future') return page;
  }
  await untilNotOlder(request, revision);
  return storage.list(prefix, after, limit);
}
