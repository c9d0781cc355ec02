import { StatusError } from '../../api/index.ts';

/** The node and the path at its agent that a proxied URL names. */
export interface ProxiedPath {
  /** As it stands in the path, decoded once. */
  node: string;
  /** With its query, byte for byte as the client wrote it. */
  target: string;
}

const form = /^\/api\/v1\/nodes\/([^/]+)\/proxy(\/.*)?$/;

/**
 * Parses the URL of a request. The path is forwarded unchanged, without decoding and encoding it again, so that the agent
 * reads what was authorized. Throws 400 for a path that two parsers could read differently: `..` in any encoding,
 * backslashes, control characters, and the fixed parts of this path in another spelling.
 */
export function readProxiedPath(url: string): ProxiedPath {
  const at = url.indexOf('?');
  const [path, query] = at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at)];
  // a server's name may stand before the path (RFC 9112, 3.2.2)
  const [, name = '', rest = ''] = form.exec(path.replace(/^https?:\/\/[^/]*\//, '/')) ?? [];
  const node = decodePart(name);
  if (node === '' || !/^[\x21-\x7e]*$/.test(url) || !isPlain(rest)) throw invalid();
  if (rest !== '' && rest !== '/') return { node, target: rest + query };
  return { node, target: readPathParameter(query) + query };
}

/** Where nothing stands behind `proxy`, the parameter `path` may (NodeProxyOptions). */
function readPathParameter(query: string): string {
  const named = new URLSearchParams(query).get('path') ?? '';
  const path = `/${named.replace(/^\//, '').split('/').map(encodeURIComponent).join('/')}`;
  if (!isPlain(path)) throw invalid();
  return path;
}

/** Whether all parsers read the same path in it. */
function isPlain(path: string): boolean {
  const text = decodePart(path);
  const parts = text.split(/[/\\]/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be in it
  return !/[\\\x00-\x1f\x7f]/.test(text) && !parts.includes('.') && !parts.includes('..');
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid();
  }
}

function invalid(): StatusError {
  return new StatusError('BadRequest', 'the path is not valid');
}
