import type { Clock } from '../../../base/index.ts';
import { withDeadline } from '../../../base/index.ts';

export interface FetchOptions {
  readonly url: string;
  /** May hold credentials: only the server of `url` gets them. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly limitBytes: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** For everything, redirects included; as in the reference. */
const timeoutMs = 10_000;
const maxRedirects = 10;
const redirects: readonly number[] = [301, 302, 303, 307, 308];

/**
 * Returns the body of the answer 200. Redirects are followed; once one has left the server of `url` (scheme, host and port), no
 * headers are sent any more. Rejects with an Error that says what went wrong, without the query and without headers.
 */
export async function fetchManifests(options: FetchOptions): Promise<Uint8Array> {
  const { clock, signal, url } = options;
  const host = describeUrl(url);
  return await withDeadline({ clock, timeoutMs, signal }, host, (cancel) => follow(options, cancel));
}

/** The URL without what may be secret in it. */
export function describeUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

async function follow({ url, headers, limitBytes }: FetchOptions, signal: AbortSignal): Promise<Uint8Array> {
  const { request } = await import('undici'); // large, and needed only with such a URL
  const { origin } = new URL(url);
  let next = url;
  let hasLeft = false;
  for (let count = 0; count <= maxRedirects; count += 1) {
    const sent = hasLeft ? {} : copyHeaders(headers);
    const {
      statusCode,
      headers: answered,
      body,
    } = await request(next, { headers: sent, signal, reset: true });
    if (statusCode === 200) return await readBounded(body, limitBytes);
    body.on('error', () => undefined).destroy();
    const { location } = answered;
    if (!redirects.includes(statusCode) || typeof location !== 'string')
      throw new Error(`${describeUrl(next)} answered ${statusCode}`);
    next = resolveLocation(location, next);
    hasLeft ||= new URL(next).origin !== origin;
  }
  throw new Error(`${describeUrl(url)} redirects more than ${maxRedirects} times`);
}

function copyHeaders(headers: FetchOptions['headers']): Record<string, string[]> {
  return Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, [...values]]));
}

function resolveLocation(location: string, from: string): string {
  const to = URL.canParse(location, from) ? new URL(location, from) : undefined;
  if (to === undefined || !['http:', 'https:'].includes(to.protocol))
    throw new Error(`${describeUrl(from)} redirects to what is no http or https URL`);
  return to.href;
}

async function readBounded(body: AsyncIterable<Buffer>, limitBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of body) {
    total += chunk.length;
    if (total > limitBytes) throw new Error(`the answer is longer than ${limitBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
