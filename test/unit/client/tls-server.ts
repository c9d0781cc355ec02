import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Issue, Pair } from '../../../src/base/x509/index.ts';
import { alternativeNames, createAuthority, issuePair, noNames } from '../../../src/base/x509/index.ts';

const hourMs = 3600_000;

export function makeAuthority(now = Date.now()): Promise<Pair> {
  return createAuthority('test-ca', 1000 * hourMs, now);
}

/** A certificate for a server on this machine, unless `changed` says otherwise. */
export function servingPair(
  authority: Pair,
  changed: Partial<Issue> & { serves?: string[] } = {},
): Promise<Pair> {
  const { serves = ['localhost', '127.0.0.1', '::1'], ...issue } = changed;
  return issuePair(authority, {
    subject: { commonName: 'server', organizations: [] },
    names: alternativeNames(serves),
    use: 'server',
    lifetimeMs: hourMs,
    now: Date.now(),
    ...issue,
  });
}

export function clientPair(authority: Pair, changed: Partial<Issue> = {}): Promise<Pair> {
  return issuePair(authority, {
    subject: { commonName: 'client', organizations: ['group'] },
    names: noNames,
    use: 'client',
    lifetimeMs: hourMs,
    now: Date.now(),
    ...changed,
  });
}

export interface Received {
  method: string;
  /** With its query. */
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface TestServer extends AsyncDisposable {
  /** `https://127.0.0.1:port` */
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** TCP connections so far, and those open now. */
  readonly connections: number;
  readonly open: number;
  /** Cuts every connection. */
  cut(): void;
}

export interface TestServerOptions {
  pair: Pair;
  /** PEM; clients must show a certificate of it. */
  clientCa?: string;
}

/** A TLS server that answers as `answer` says; it sees requests after their bodies were read. */
export async function startServer(
  options: TestServerOptions,
  answer: (request: Received, response: ServerResponse) => void,
): Promise<TestServer> {
  const { pair, clientCa } = options;
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const listener: RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url = '', headers } = request;
    const body = Buffer.concat(chunks).toString('utf8');
    received.push({ method, path: url, headers, body });
    answer({ method, path: url, headers, body }, response);
  };
  const server = createServer(
    {
      ...pair,
      ...(clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
    },
    listener,
  );
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a server that listens on TCP has one
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    received,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    cut,
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function sendJson(response: ServerResponse, code: number, value: unknown): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
