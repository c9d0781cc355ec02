import type { IncomingHttpHeaders } from 'node:http';
import { requesterHeader } from '../../api/index.ts';

/*
 * In both directions only headers are forwarded that are known to belong to the message itself. So a node gets no credential
 * of the caller, no header that claims an identity (Impersonate-…, X-Remote-…, X-Forwarded-…), none that is about one
 * connection (RFC 9110, 7.6.1), and a compromised node cannot act as the API's origin in a browser.
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

/** The agent's own headers: about itself, and about a checkpoint. */
const isOwn = (name: string): boolean => /^(nodeward|x-checkpoint)-/.test(name) && name !== requesterHeader;
const maxRequesterLength = 256;

export interface Asking {
  headers: IncomingHttpHeaders;
  /** The name of the user who asks. */
  requester: string;
  /** Whether the body is sent on. */
  hasBody: boolean;
}

/** The headers for the agent. */
export function createNodeHeaders({ headers, requester, hasBody }: Asking): Record<string, string> {
  const sent: Record<string, string> = {};
  const ofConnection = listConnectionHeaders(headers.connection);
  for (const name of toNode) {
    const value = headers[name];
    if ((!hasBody && name.startsWith('content-')) || ofConnection.includes(name)) continue;
    if (value !== undefined) sent[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  sent[requesterHeader] = encodeURIComponent(requester.slice(0, maxRequesterLength).toWellFormed());
  return sent;
}

/** The headers for the caller; `prefix` is the prefix of the node's paths as the caller sees them. */
export function createCallerHeaders(
  headers: IncomingHttpHeaders,
  prefix: string,
): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = {};
  const ofConnection = listConnectionHeaders(headers.connection);
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

/** The headers that the sender declares to be about one connection. */
export function listConnectionHeaders(connection: string | readonly string[] | undefined): string[] {
  return [connection ?? '']
    .flat()
    .join(',')
    .split(',')
    .map((name) => name.trim().toLowerCase());
}
