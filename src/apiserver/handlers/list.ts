import { StatusError } from '../../api/index.ts';
import type { Listing, Stored } from '../storage/index.ts';
import { untilNotOlder } from './get.ts';
import { invalidOption, selectorParameters, versionParameter } from './parameters.ts';
import type { Answer, ApiRequest } from './request.ts';

/** GET of a collection, all of it at one version. */
export async function list(request: ApiRequest): Promise<Answer> {
  const { resource, query } = request;
  const matches = selectorParameters(request);
  const listing = await listingFor(request, versionParameter(query), query.get('resourceVersionMatch') ?? '');
  const selected = listing.items.filter((stored) => matches?.(resource.encoding.read(stored)) ?? true);
  const items = selected.map((stored: Stored) => resource.encoding.show(stored));
  return { form: 'list', code: 200, items, resourceVersion: String(listing.revision) };
}

async function listingFor(
  request: ApiRequest,
  revision: number | undefined,
  match: string,
): Promise<Listing> {
  const { storage } = request.resource;
  const prefix = request.resource.prefix(request.namespace);
  checkMatch(revision, match);
  if (match === 'Exact' && revision !== undefined) {
    const page = await storage.listAt(prefix, revision, '', 0);
    if (page === 'compacted') {
      throw new StatusError('Expired', `The resourceVersion for the provided list is too old: ${revision}`);
    }
    if (page !== 'future') return page;
  }
  await untilNotOlder(request, revision);
  return storage.list(prefix, '', 0);
}

function checkMatch(revision: number | undefined, match: string): void {
  if (match === '') return;
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    const message = `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan"`;
    throw invalidOption('ListOptions', 'resourceVersionMatch', message, 'FieldValueNotSupported');
  }
  if (revision === undefined) {
    const message = 'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided';
    throw invalidOption('ListOptions', 'resourceVersionMatch', message, 'FieldValueForbidden');
  }
  if (match === 'Exact' && revision === 0) {
    const message = 'Forbidden: resourceVersionMatch "Exact" is forbidden for resourceVersion "0"';
    throw invalidOption('ListOptions', 'resourceVersionMatch', message, 'FieldValueForbidden');
  }
}
