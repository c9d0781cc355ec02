import type { Kind } from '../api/index.ts';
import { groupName } from '../api/index.ts';
import type { ListOptions, WatchOptions } from './options.ts';

type ResourceOf = Pick<Kind, 'group' | 'version' | 'resource' | 'namespaced'>;

/** The path of a collection; for a namespaced kind without a namespace that of all namespaces (specification, section 4.3). */
export function collectionPath(kind: ResourceOf, groupSuffix: string, namespace: string | undefined): string {
  const group = groupName(kind.group, groupSuffix);
  const parts = group === '' ? ['api', kind.version] : ['apis', group, kind.version];
  if (kind.namespaced && namespace) parts.push('namespaces', segment(namespace, 'namespace'));
  return `/${parts.map(encodeURIComponent).join('/')}/${kind.resource}`;
}

/**
 * The path of one object. Throws if the name or the namespace is missing: without them it would be the path of a whole
 * collection, and deleting one object must never delete all.
 */
export function objectPath(
  kind: ResourceOf,
  groupSuffix: string,
  place: { namespace?: string | undefined; name: string; subresource?: string | undefined },
): string {
  const { namespace, name, subresource } = place;
  if (kind.namespaced && !namespace) throw new Error(`${kind.resource} ${name}: a namespace is needed`);
  const rest = [segment(name, `name of ${kind.resource}`), ...(subresource ? [subresource] : [])];
  return `${collectionPath(kind, groupSuffix, namespace)}/${rest.map(encodeURIComponent).join('/')}`;
}

function segment(text: string, what: string): string {
  if (text === '' || text === '.' || text === '..') throw new Error(`${JSON.stringify(text)} is no ${what}`);
  return text;
}

/** The query of a list or watch, with its `?`; empty without options. */
export function selectionQuery(options: ListOptions & WatchOptions): string {
  const query = new URLSearchParams();
  const names = [
    ...['labelSelector', 'fieldSelector', 'resourceVersion', 'resourceVersionMatch', 'limit', 'continue'],
    ...['timeoutSeconds', 'allowWatchBookmarks', 'sendInitialEvents'],
  ];
  const given = new Map<string, unknown>(Object.entries(options));
  for (const name of names) {
    const value = given.get(name);
    if (value !== undefined && value !== '' && value !== false) query.set(name, String(value));
  }
  return query.size === 0 ? '' : `?${query}`;
}
