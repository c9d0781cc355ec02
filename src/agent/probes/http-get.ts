/** GET requests to containers, for probes and hooks: what a server may answer is bounded in time by the caller, in bytes here. */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { describeConnectionFault, describeDialTimeout, isPlainAnswer } from './dial-fault.ts';
import { podLookups } from './name-lookups.ts';
import type { HttpGet, ProbePlace } from './types.ts';
import { joinHostPort, resolveHost, resolvePort } from './types.ts';

export interface HttpRequest {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
  /** With the query. */
  readonly path: string;
  readonly headers: readonly Header[];
}

type Header = readonly [name: string, value: string];

export interface HttpAnswer {
  readonly status: number;
  /** At most its first 10 KiB. */
  readonly body: string;
}

/** No answer, or one that is no HTTP. The message is as the reference words it: `Get "URL": why`. */
export class HttpGetError extends Error {
  override readonly name = 'HttpGetError';
  /** It was asked over HTTPS and answered over HTTP. */
  readonly isPlainAnswer: boolean;

  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.isPlainAnswer = isPlainAnswer(cause);
  }
}

/** Of the reference with which the agent keeps up, as servers know it. */
export const referenceVersion = '1.36';
const maxBodyBytes = 10 * 1024;
const maxHeaderBytes = 64 * 1024;
const maxRequests = 10;
/** Interim answers (1xx) before the one that counts; more cost this process more than their sender. */
const maxInterim = 5;

/** `purpose` names the agent to the server. Throws a ProbePlaceError where there is nothing to ask. */
export function httpRequestOf(get: HttpGet, place: ProbePlace, purpose: 'probe' | 'lifecycle'): HttpRequest {
  return {
    scheme: get.scheme?.toLowerCase() === 'https' ? 'https' : 'http',
    port: resolvePort(get.port, place),
    host: resolveHost(get.host, place),
    path: toPath(get.path ?? ''),
    headers: headersOf(get, purpose),
  };
}

/** As in the reference, those of the pod go first, and an empty one of these three takes the header away. */
function headersOf({ httpHeaders = [] }: HttpGet, purpose: string): Header[] {
  const own = httpHeaders.map(({ name, value = '' }): Header => [name, value]);
  const has = (name: string) => own.some(([other]) => isNamed(other, name));
  return [
    ...own.filter(([name, value]) => value !== '' || !isNamed(name, 'accept', 'user-agent', 'host')),
    ...(has('user-agent') ? [] : [['User-Agent', `kube-${purpose}/${referenceVersion}`] as const]),
    ...(has('accept') ? [] : [['Accept', '*/*'] as const]),
  ];
}

const isNamed = (header: string, ...names: readonly string[]) => names.includes(header.toLowerCase());

/** What a request line can carry; the rest is encoded. */
function toPath(path: string): string {
  const [withoutFragment = ''] = path.split('#', 1);
  const encoded = withoutFragment.toWellFormed().replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent);
  return encoded.startsWith('/') ? encoded : `/${encoded}`;
}

/** For messages. */
export function urlOf({ scheme, host, port, path }: HttpRequest): string {
  return `${scheme}://${joinHostPort(host, port)}${path}`;
}

/**
 * Asks, and follows redirects to the same host; one to another host is an answer like any other. Rejects with an HttpGetError, also
 * when `signal` aborts.
 */
export async function askHttp(first: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
  let request = first;
  for (let asked = 1; ; asked += 1) {
    const { answer, location } = await ask(request, signal);
    const to = findRedirect(request, answer.status, location);
    if (to === undefined || hostOf(to) !== first.host.toLowerCase()) return answer;
    if (asked === maxRequests) throw toError(request, new Error(`stopped after ${maxRequests} redirects`));
    request = redirectedTo(to, request);
  }
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function findRedirect(from: HttpRequest, status: number, location = ''): URL | undefined {
  if (!redirects.has(status) || location === '') return undefined;
  const to = URL.parse(location, urlOf(from));
  if (to !== null) return to;
  throw toError(from, new Error(`failed to parse Location header ${JSON.stringify(location)}`));
}

const hostOf = ({ hostname }: URL) => hostname.replace(/^\[(.*)\]$/, '$1');
const schemes: Readonly<Record<string, readonly [HttpRequest['scheme'], number]>> = {
  'http:': ['http', 80],
  'https:': ['https', 443],
};

function redirectedTo(to: URL, from: HttpRequest): HttpRequest {
  const [scheme, defaultPort] = schemes[to.protocol] ?? [];
  if (scheme === undefined || defaultPort === undefined)
    throw toError(from, new Error(`unsupported protocol scheme ${JSON.stringify(to.protocol.slice(0, -1))}`));
  const port = to.port === '' ? defaultPort : Number(to.port);
  const isHere = scheme === from.scheme && port === from.port;
  const headers = isHere ? from.headers : from.headers.filter(([name]) => !isNamed(name, 'host'));
  return { scheme, host: hostOf(to), port, path: `${to.pathname}${to.search}`, headers };
}

interface Asked {
  readonly answer: HttpAnswer;
  readonly location: string | undefined;
}

async function ask(target: HttpRequest, signal: AbortSignal): Promise<Asked> {
  const { promise, resolve, reject } = Promise.withResolvers<Asked>();
  let request: ClientRequest | undefined;
  const abort = () => reject(new Error(timeoutText(target, request)));
  try {
    request = open(target);
    request.on('error', reject);
    request.on('information', refuseMany(maxInterim, reject));
    request.on('upgrade', (response, socket) => {
      socket.destroy(); // it is no longer the request's, which does not close it
      resolve({ answer: { status: statusOf(response), body: '' }, location: '' });
    });
    request.on('response', (response) => {
      const { location } = response.headers;
      readBody(response).then(
        (body) => resolve({ answer: { status: statusOf(response), body }, location }),
        reject,
      );
    });
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    request.end();
    return await promise;
  } catch (error) {
    throw toError(target, error);
  } finally {
    signal.removeEventListener('abort', abort);
    request?.on('error', () => undefined); // what breaks when it is destroyed
    request?.destroy();
  }
}

function refuseMany(max: number, reject: (error: Error) => void): () => void {
  let count = 0;
  return () => {
    count += 1;
    if (count > max) reject(new Error('net/http: too many 1xx informational responses'));
  };
}

const statusOf = ({ statusCode = 0 }: IncomingMessage) => statusCode;

/** A connection of its own: what the server kept of another one says nothing of whether it takes new ones. */
function open({ scheme, host, port, path, headers }: HttpRequest): ClientRequest {
  const own = headers.some(([name]) => isNamed(name, 'host'));
  const hostHeader: readonly Header[] = own ? [] : [['Host', joinHostPort(host, port)]];
  const options = {
    ...{ host, port, path, agent: false as const, setHost: false, maxHeaderSize: maxHeaderBytes },
    headers: [...hostHeader, ...headers].flat(),
    lookup: podLookups.lookup,
  };
  if (scheme === 'http') return requestHttp(options);
  // a pod's certificate is its own affair, as for the reference
  return requestHttps({ ...options, rejectUnauthorized: false, servername: isIP(host) === 0 ? host : '' });
}

/** The first 10 KiB; what follows is not waited for. */
async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, maxBodyBytes - size));
    size += chunk.length;
    if (size >= maxBodyBytes) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function timeoutText(target: HttpRequest, request: ClientRequest | undefined): string {
  const isConnected = request?.socket?.connecting === false;
  const what = isConnected ? 'context deadline exceeded' : describeDialTimeout(target.host, target.port);
  return `${what} (Client.Timeout exceeded while awaiting headers)`;
}

function toError(target: HttpRequest, cause: unknown): HttpGetError {
  const why = describeConnectionFault(cause, joinHostPort(target.host, target.port));
  return new HttpGetError(`Get ${JSON.stringify(urlOf(target))}: ${why}`, cause);
}
