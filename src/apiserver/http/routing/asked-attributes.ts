import type { FastifyRequest } from 'fastify';
import type { Attributes } from '../../authz/index.ts';
import { namespaceInQuestion } from '../../authz/index.ts';
import { isAsked } from '../../handlers/index.ts';
import { usualVerbOf } from './methods.ts';
import { queryOf, routedPathOf } from './request.ts';

/** What may follow the name of a namespace without being a kind in it. */
const namespaceParts: readonly string[] = ['status', 'finalize'];

/**
 * What a request asks for by the form of its path alone, whether or not anything is served there; as in the reference.
 * `/api/VERSION/…` and `/apis/GROUP/VERSION/…` are objects, everything else is a path.
 */
export function askedAttributes(request: FastifyRequest): Attributes {
  const path = routedPathOf(request);
  const [prefix, ...parts] = trimSlashes(path).split('/');
  const { method } = request;
  const grouped = prefix === 'apis';
  const [group = '', version = '', ...rest] = grouped ? parts : ['', ...parts];
  if ((!grouped && prefix !== 'api') || rest.length === 0) return { verb: method.toLowerCase(), path };
  const { namespace, resource, name, subresource } = readPlace(rest);
  const verb = verbOf(method, name === '', isAsked(queryOf(request), 'watch'));
  return {
    verb,
    group,
    version,
    resource,
    subresource,
    namespace: namespaceInQuestion({ group, resource }, { namespace, name }),
    name,
  };
}

/** Reads what stands behind the version of a group. */
function readPlace(parts: readonly string[]) {
  const [first = '', namespace = '', kind] = parts;
  const isIn = first === 'namespaces' && kind !== undefined && !namespaceParts.includes(kind);
  const [resource = '', name = '', subresource = ''] = isIn ? parts.slice(2) : parts;
  return { namespace: isIn ? namespace : '', resource, name, subresource };
}

function verbOf(method: string, isCollection: boolean, watches: boolean): string {
  const verb = usualVerbOf(method);
  if (!isCollection) return verb;
  if (verb === 'get') return watches ? 'watch' : 'list';
  return verb === 'delete' ? 'deletecollection' : verb;
}

function trimSlashes(path: string): string {
  let [from, to] = [0, path.length];
  while (path[from] === '/') from++;
  while (to > from && path[to - 1] === '/') to--;
  return path.slice(from, to);
}
