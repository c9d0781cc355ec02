import type { Kind } from '../api/index.ts';
import { groupName } from '../api/index.ts';

type Placed = Pick<Kind, 'group' | 'version' | 'resource' | 'namespaced'>;

/** The path of a collection; of a namespaced kind without a namespace, of all there are (specification, section 4.3). */
export function collectionPath(kind: Placed, groupSuffix: string, namespace: string | undefined): string {
  const group = groupName(kind.group, groupSuffix);
  const parts = group === '' ? ['api', kind.version] : ['apis', group, kind.version];
  if (kind.namespaced && namespace) parts.push('namespaces', segment(namespace, 'namespace'));
  return `/${parts.map(encodeURIComponent).join('/')}/${kind.resource}`;
}

/**
 * The path of one object. Throws where a name or a namespace is missing: the path that is left would be that of the
 * whole collection, and a deletion of one object must never become one of all.
 */
export function objectPath(
  kind: Placed,
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
