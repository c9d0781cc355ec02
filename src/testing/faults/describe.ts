import type { IncomingMessage } from 'node:http';
import type { SeenRequest, SeenWrite } from '../types.ts';

/** Describes a request as the server will understand it (specification, section 4.3). */
export function describeRequest({ method = 'GET', url = '/' }: IncomingMessage): SeenRequest {
  const at = url.indexOf('?');
  const path = at < 0 ? url : url.slice(0, at);
  const query = Object.fromEntries(new URLSearchParams(at < 0 ? '' : url.slice(at + 1)));
  const target = parsePath(path);
  return { method, path, query, ...target, verb: verbOf(method, query, target) };
}

type Target = Pick<SeenRequest, 'group' | 'resource' | 'namespace' | 'name' | 'subresource'>;

function parsePath(path: string): Target {
  const [root, ...parts] = path.split('/').filter(Boolean).map(decode);
  const inGroup = root === 'apis';
  const group = (inGroup && parts[0]) || '';
  const rest = parts.slice(inGroup ? 2 : 1);
  if ((root !== 'api' && !inGroup) || rest.length === 0) {
    return { group, resource: '', namespace: '', name: '', subresource: '' };
  }
  const isInNamespace =
    rest[0] === 'namespaces' && rest.length > 2 && !namespaceSubresources.has(rest[2] ?? '');
  const [resource = '', name = '', subresource = ''] = isInNamespace ? rest.slice(2) : rest;
  return { group, resource, namespace: isInNamespace ? (rest[1] ?? '') : '', name, subresource };
}

/** `/namespaces/NAME/status` is a subresource of the namespace, not a resource in it. */
const namespaceSubresources = new Set(['status', 'finalize']);

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const verbs = new Map([
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
]);
const trueTexts = new Set(['', '1', 't', 'T', 'true', 'TRUE', 'True']);

function verbOf(method: string, query: SeenRequest['query'], { resource, name }: Target): string {
  if (resource === '') return method.toLowerCase();
  if (method === 'DELETE') return name === '' ? 'deletecollection' : 'delete';
  if (method !== 'GET') return verbs.get(method) ?? method.toLowerCase();
  if (name !== '') return 'get';
  return trueTexts.has(query['watch'] ?? 'false') ? 'watch' : 'list';
}

/** Describes a write to the store by its key, `/registry/RESOURCE/[NAMESPACE/]NAME`. */
export function describeWrite(write: { key: string; expect: number; value: unknown }): SeenWrite {
  const [, , resource = '', ...rest] = write.key.split('/');
  const name = rest.pop() ?? '';
  const verb = write.expect === 0 ? 'create' : 'update';
  return { verb: write.value === null ? 'delete' : verb, resource, namespace: rest[0] ?? '', name };
}
