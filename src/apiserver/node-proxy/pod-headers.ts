import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { listConnectionHeaders } from './headers.ts';
import { isPage, toPageHeaders } from './page-body.ts';
import type { PodTarget } from './pod-target.ts';

/*
 * A pod is an application: it gets all headers but those that say who the caller is for this API, and those that are
 * about one connection (RFC 9110, 7.6.1). Its pages are shown at the API's address: they get an origin of their own and cookies
 * for their path alone, so that they can use neither the API nor another pod in the name of who looks at them.
 */

const ofConnection = [
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['http2-settings', 'proxy-authenticate', 'proxy-authorization', 'expect', 'host'],
];
const ofCaller = /^(?:authorization$|impersonate-|x-remote-|x-forwarded-|forwarded$|sec-websocket-|:)/;
/** What would hold for the API's address as a whole. */
const ofOrigin =
  /^(?:accept-ch$|access-control-|alt-svc$|clear-site-data$|nel$|public-key-pins|report-to$|reporting-endpoints$|service-worker-allowed$|strict-transport-security$)/;
const sandbox = 'sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts';

/** The headers for the pod. */
export function createPodHeaders(
  { headers, url = '' }: Pick<IncomingMessage, 'headers' | 'url'>,
  { isSecure, address, port }: PodTarget,
  { hasBody, from }: { hasBody: boolean; from: string | undefined },
): Record<string, string | string[]> {
  const sent: Record<string, string | string[]> = {};
  const named = listConnectionHeaders(headers.connection);
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || ofConnection.includes(name) || named.includes(name)) continue;
    if (ofCaller.test(name) || (!hasBody && name === 'content-length')) continue;
    sent[name] = value;
  }
  const host = address.includes(':') ? `[${address}]` : address;
  const [path = ''] = url.split('?', 1);
  return {
    ...sent,
    host: port === (isSecure ? 443 : 80) ? host : `${host}:${port}`,
    ...(from === undefined ? {} : { 'x-forwarded-for': from }),
    ...(headers.host === undefined ? {} : { 'x-forwarded-host': headers.host }),
    'x-forwarded-proto': 'https',
    'x-forwarded-uri': path,
  };
}

/** The headers for the caller; `prefix` is the prefix of the pod's paths as the caller sees them. */
export function createPageHeaders(
  headers: IncomingHttpHeaders,
  prefix: string,
  target: PodTarget,
): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = {};
  const named = listConnectionHeaders(headers.connection);
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || ofConnection.includes(name) || named.includes(name)) continue;
    if (!ofOrigin.test(name)) passed[name] = value;
  }
  for (const name of ['location', 'content-location'] as const) {
    const value = headers[name];
    if (value !== undefined) passed[name] = toCallersPath(value, prefix, target);
  }
  const cookies = [headers['set-cookie'] ?? []].flat(); // the HTTP library has a single one as text
  if (cookies.length > 0) passed['set-cookie'] = cookies.map((each) => confineCookie(each, prefix));
  const policies = [headers['content-security-policy'] ?? [], sandbox].flat();
  const page = isPage(headers) ? toPageHeaders(passed) : passed;
  return { ...page, 'content-security-policy': policies, 'x-content-type-options': 'nosniff' };
}

/** A path of the pod as the caller has to ask for it; another server's address as it is. */
function toCallersPath(location: string, prefix: string, { isSecure, address, port }: PodTarget): string {
  if (/^\/(?![/\\])/.test(location)) return prefix + location;
  const host = address.includes(':') ? `[${address}]` : address;
  const own = `${isSecure ? 'https' : 'http'}://${host}:${port}`;
  const url = URL.canParse(location) ? new URL(location) : undefined;
  return url !== undefined && url.origin === new URL(own).origin
    ? prefix + url.pathname + url.search + url.hash
    : location;
}

/** The cookie is sent to this pod alone, whatever the pod wants. */
function confineCookie(cookie: string, prefix: string): string {
  const parts = cookie.split(';').filter((part) => !/^\s*(?:path|domain)\s*=/i.test(part));
  return `${parts.join(';')}; Path=${prefix}`;
}
