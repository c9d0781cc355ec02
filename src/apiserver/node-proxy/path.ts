import { StatusError } from '../../api/index.ts';

/** Which node a path is about, and what is asked of it there. */
export interface ProxiedPath {
  /** As it stands in the path, decoded once. */
  node: string;
  /** With its query, byte for byte as the client wrote it. */
  target: string;
}

const form = /^\/api\/v1\/nodes\/([^/]+)\/proxy(\/.*)?$/;

/**
 * Takes a request's target apart. What is sent on is what came: nothing is decoded and written anew, so that the agent reads
 * what was authorized. Throws 400 for whatever two readers could take for two paths: parts that lead upwards, however
 * they are written, backslashes, control characters, and the words of this path in another spelling.
 */
export function readProxiedPath(url: string): ProxiedPath {
  const at = url.indexOf('?');
  const [path, query] = at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at)];
  // a server's name may stand before the path (RFC 9112, 3.2.2)
  const [, name = '', rest = ''] = form.exec(path.replace(/^https?:\/\/[^/]*\//, '/')) ?? [];
  const node = decoded(name);
  if (node === '' || !/^[\x21-\x7e]*$/.test(url) || !isPlain(rest)) throw invalid();
  if (rest !== '' && rest !== '/') return { node, target: rest + query };
  return { node, target: namedInQuery(query) + query };
}

/** Where nothing stands behind `proxy`, the parameter `path` may (NodeProxyOptions). */
function namedInQuery(query: string): string {
  const named = new URLSearchParams(query).get('path') ?? '';
  const path = `/${named.replace(/^\//, '').split('/').map(encodeURIComponent).join('/')}`;
  if (!isPlain(path)) throw invalid();
  return path;
}

/** Whether everybody reads the same path in it. */
function isPlain(path: string): boolean {
  const text = decoded(path);
  const parts = text.split(/[/\\]/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be in it
  return !/[\\\x00-\x1f\x7f]/.test(text) && !parts.includes('.') && !parts.includes('..');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid();
  }
}

function invalid(): StatusError {
  return new StatusError('BadRequest', 'the path is not valid');
}
