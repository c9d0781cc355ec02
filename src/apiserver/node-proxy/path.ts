import { StatusError } from '../../api/index.ts';

/** The node and the path at its agent that a proxied URL names. */
export interface ProxiedPath {
  /** As it stands in the path, decoded once. */
  node: string;
  /** With its query, byte for byte as the client wrote it. */
  target: string;
}

const nodePath = /^\/api\/v1\/nodes\/([^/]+)\/proxy(\/.*)?$/;

/** The node that a URL names, and the path at its agent. Throws 400 as splitProxiedPath does. */
export function readProxiedPath(url: string): ProxiedPath {
  const { name, target } = splitProxiedPath(url, nodePath);
  return { node: name, target };
}

/**
 * Parses the URL of a request by a form whose groups are a name, which is decoded once, and the path behind `proxy`. The path is
 * forwarded unchanged, without decoding and encoding it again, so that the other side reads what was authorized. Throws 400 for
 * a path that two parsers could read differently: `..` in any encoding, backslashes, control characters, and the fixed parts of
 * this path in another spelling.
 */
export function splitProxiedPath(
  url: string,
  form: RegExp,
): { readonly name: string; readonly target: string; readonly rest: string } {
  const at = url.indexOf('?');
  const [path, query] = at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at)];
  // a server's name may stand before the path (RFC 9112, 3.2.2)
  const [, named = '', rest = ''] = form.exec(path.replace(/^https?:\/\/[^/]*\//, '/')) ?? [];
  const name = decodePart(named);
  if (name === '' || !/^[\x21-\x7e]*$/.test(url) || !isPlain(rest)) throw invalid();
  if (rest !== '' && rest !== '/') return { name, rest, target: rest + query };
  return { name, rest, target: readPathParameter(query) + query };
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
