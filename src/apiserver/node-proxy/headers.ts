import type { IncomingHttpHeaders } from 'node:http';
import { requesterHeader } from '../../api/index.ts';

/*
 * Both ways only headers pass that are known to belong to the message itself. So no credential of the caller's reaches a
 * node, nothing that claims to speak for somebody (Impersonate-…, X-Remote-…, X-Forwarded-…), nothing that is about one
 * connection (RFC 9110, 7.6.1), and a node that has been taken over cannot speak for the API's origin in a browser.
 */

const toNode = [
  ...['accept', 'accept-encoding', 'accept-language', 'cache-control', 'user-agent'],
  ...['content-encoding', 'content-language', 'content-length', 'content-type'],
  ...['content-digest', 'repr-digest', 'idempotency-key', 'prefer', 'traceparent'],
  ...['if-match', 'if-modified-since', 'if-none-match', 'if-range', 'if-unmodified-since', 'range'],
];

const fromNode = [
  ...['accept-ranges', 'age', 'allow', 'cache-control', 'expires', 'etag', 'last-modified', 'vary'],
  ...['content-disposition', 'content-encoding', 'content-language', 'content-length', 'content-range'],
  ...[
    'content-type',
    'content-digest',
    'digest',
    'repr-digest',
    'preference-applied',
    'retry-after',
    'warning',
  ],
];

/** The agent's own: what it says of itself, and of a checkpoint. */
const isOwn = (name: string): boolean => /^(nodeward|x-checkpoint)-/.test(name) && name !== requesterHeader;
const maxRequesterLength = 256;

export interface Asking {
  headers: IncomingHttpHeaders;
  /** The name of the user who asks. */
  requester: string;
  /** Whether the body is sent on. */
  hasBody: boolean;
}

/** What the agent is sent. */
export function headersToNode({ headers, requester, hasBody }: Asking): Record<string, string> {
  const sent: Record<string, string> = {};
  const ofConnection = namedIn(headers.connection);
  for (const name of toNode) {
    const value = headers[name];
    if ((!hasBody && name.startsWith('content-')) || ofConnection.includes(name)) continue;
    if (value !== undefined) sent[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  sent[requesterHeader] = encodeURIComponent(requester.slice(0, maxRequesterLength).toWellFormed());
  return sent;
}

/** What the caller is sent; `prefix` is where the node's paths are for the caller. */
export function headersFromNode(
  headers: IncomingHttpHeaders,
  prefix: string,
): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = {};
  const ofConnection = namedIn(headers.connection);
  for (const [name, value] of Object.entries(headers)) {
    const isKnown = fromNode.includes(name) || isOwn(name);
    if (isKnown && value !== undefined && !ofConnection.includes(name)) passed[name] = value;
  }
  for (const name of ['location', 'content-location'] as const) {
    const value = headers[name];
    // another server is none of the node's business
    if (value !== undefined && /^\/(?![/\\])/.test(value)) passed[name] = prefix + value;
  }
  return { ...passed, 'x-content-type-options': 'nosniff', 'content-security-policy': 'sandbox' };
}

/** Headers that are about one connection because its sender says so. */
function namedIn(connection: string | undefined): string[] {
  return (connection ?? '').split(',').map((name) => name.trim().toLowerCase());
}
