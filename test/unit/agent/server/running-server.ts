import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect as connectTcp } from 'node:net';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { connect as connectTls } from 'node:tls';
import type { CheckpointRequest } from '../../../../src/agent/checkpoint/index.ts';
import { createCheckpointRoutes } from '../../../../src/agent/checkpoint/index.ts';
import type { ServingCredentials } from '../../../../src/agent/identity/index.ts';
import type { AccessSettings } from '../../../../src/agent/server/access/index.ts';
import { createAccess } from '../../../../src/agent/server/access/index.ts';
import type { AgentRoute, AgentServerOptions } from '../../../../src/agent/server/index.ts';
import { agentServer, metricsRoute, sendJson, sendText } from '../../../../src/agent/server/index.ts';
import type { Clock } from '../../../../src/base/index.ts';
import { createLatest, createMetrics, systemClock } from '../../../../src/base/index.ts';
import type { Pair } from '../../../../src/base/x509/index.ts';
import { recordedLog } from '../../base/recorded-log.ts';
import type { TestAuthority } from '../identity/pki.ts';
import { createTestAuthority } from '../identity/pki.ts';
import { standInControlPlane } from './access/stand-in-control-plane.ts';

export const cluster = await createTestAuthority('cluster');
export const admin = await cluster.issue('admin', ['system:masters'], 'client');
const names = ['node-a', 'localhost', '127.0.0.1'];

export async function servingBy(authority: TestAuthority): Promise<ServingCredentials> {
  const pair = await authority.issue('system:node:node-a', ['system:nodes'], 'server', { names });
  return { pair, clientCa: authority.ca };
}

export interface ServerTestOptions extends Partial<AgentServerOptions> {
  /** What a checkpoint does; by default it is made at once. */
  checkpoint?(request: CheckpointRequest): Promise<{ path: string }>;
  /** The gate ContainerCheckpoint; default on. */
  checkpointEnabled?: boolean;
  /** Whether every certificate will do; default no. */
  anyCertificate?(): boolean;
  /** Over the plain ones: tokens are reviewed, nothing is remembered. */
  settings?(): Partial<AccessSettings>;
  /** Plain routes at /healthz, /configz and /metrics; default yes. */
  plain?: boolean;
  /** False: it serves nothing, and there is no port to wait for. */
  waits?: boolean;
  /** Besides those. */
  more?: readonly AgentRoute[];
  /** Without a certificate at first. */
  bare?: boolean;
}

/** An agent's server on a free port of 127.0.0.1, stopped on disposal. */
export async function startServer({
  checkpoint,
  checkpointEnabled = true,
  anyCertificate = () => false,
  settings = () => ({}),
  more = [],
  plain = true,
  waits = true,
  bare,
  ...options
}: ServerTestOptions = {}) {
  const serving = createLatest<ServingCredentials>();
  if (!bare) serving.set(await servingBy(cluster));
  const reviews = standInControlPlane();
  const stop = new AbortController();
  const { log, text } = recordedLog();
  const asked: CheckpointRequest[] = [];
  const checkpointer = {
    checkpoint(request: CheckpointRequest) {
      asked.push(request);
      return checkpoint ? checkpoint(request) : Promise.resolve({ path: '/checkpoints/a.tar' });
    },
  };
  const server = agentServer({
    address: '127.0.0.1',
    port: 0,
    serving,
    enabled: true,
    tls: () => ({ minVersion: 'TLSv1.2', ciphers: undefined }),
    onSettings: () => new DisposableStack(),
    routes: [
      ...createCheckpointRoutes({ checkpointer, enabled: checkpointEnabled }),
      ...(plain ? plainRoutes : []),
      ...more,
    ],
    access: createAccess({
      nodeName: 'node-a',
      settings: () => ({ ...plainSettings, alwaysAllow: anyCertificate(), ...settings() }),
      control: reviews.control,
      metrics: createMetrics(),
      clock: options.clock ?? systemClock,
      log,
    }),
    dependsOn: [],
    clock: systemClock,
    log,
    ...options,
  });
  const ready = Promise.withResolvers<void>();
  const ended = server.run(stop.signal, () => ready.resolve());
  await Promise.race([ready.promise, ended]);
  const port = waits ? await server.port.get() : 0;
  const end = async () => {
    stop.abort();
    await ended;
  };
  return { port, serving, asked, reviews, log: text, ended, end, [Symbol.asyncDispose]: end };
}

const plainSettings: AccessSettings = {
  tokens: true,
  tokenTtlMs: 0,
  anonymous: false,
  alwaysAllow: false,
  allowedTtlMs: 0,
  deniedTtlMs: 0,
};

const plainRoutes: readonly AgentRoute[] = [
  {
    path: '/healthz',
    subresource: 'healthz',
    methods: { GET: ({ reply }) => sendText(reply, 200, 'ok') },
  },
  {
    path: '/configz',
    subresource: 'configz',
    methods: {
      GET: ({ reply, query }) => sendJson(reply, 200, { kubeletconfig: {}, asked: query.toString() }),
    },
  },
  metricsRoute(createMetrics()),
];

export interface Answer {
  code: number;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** A connection that sends what it is told, byte for byte. Without `identity` it shows no certificate. */
export interface RawClient extends Disposable {
  readonly socket: TLSSocket;
  /** Resolves when the connection is closed, by whomever. */
  readonly closed: Promise<void>;
  send(text: string): void;
  /** The next answer, which must have a content-length. */
  answer(): Promise<Answer>;
  /** A request without a body, and its answer. */
  ask(method: string, path: string, ...headers: readonly string[]): Promise<Answer>;
}

export async function connect(
  port: number,
  identity?: Pair,
  options: ConnectionOptions = {},
): Promise<RawClient> {
  const socket = connectTls({
    port,
    host: '127.0.0.1',
    servername: 'node-a',
    ca: cluster.ca,
    ...(identity ? { cert: identity.cert, key: identity.key } : {}),
    ...options,
  });
  const closed = Promise.withResolvers<void>();
  let received = '';
  let isClosed = false;
  let heard = Promise.withResolvers<void>();
  const wake = () => {
    heard.resolve();
    heard = Promise.withResolvers<void>();
  };
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
    wake();
  });
  socket.on('close', () => {
    isClosed = true;
    closed.resolve();
    wake();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve).once('error', reject);
  });
  socket.on('error', () => undefined);

  async function answer(): Promise<Answer> {
    for (;;) {
      const parsed = parse(received);
      if (parsed) {
        received = received.slice(parsed.length);
        return parsed.answer;
      }
      if (isClosed)
        throw new Error(`the connection was closed after ${JSON.stringify(received.slice(0, 200))}`);
      await heard.promise;
    }
  }

  return {
    socket,
    closed: closed.promise,
    send: (text) => void socket.write(text),
    answer,
    ask(method, path, ...headers) {
      socket.write([`${method} ${path} HTTP/1.1`, 'Host: node-a', ...headers, '', ''].join('\r\n'));
      return answer();
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

function parse(text: string): { answer: Answer; length: number } | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [status = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.split(':', 1)[0]?.toLowerCase() ?? '', line.replace(/^[^:]*: */, '')]),
  );
  const length = end + 4 + Number(headers['content-length'] ?? 0);
  if (text.length < length) return undefined;
  return {
    answer: { code: Number(status.split(' ')[1]), headers, body: text.slice(end + 4, length) },
    length,
  };
}

/** One request over a connection of its own. */
export async function ask(port: number, method: string, path: string, identity?: Pair): Promise<Answer> {
  using client = await connect(port, identity);
  return await client.ask(method, path);
}

/** A TCP connection that says nothing. */
export async function connectSilently(port: number): Promise<Socket> {
  const socket = connectTcp({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  return socket;
}

/** The system's clock with a wall that the test moves. */
export function movableWall(): Clock & { moveMs: number } {
  const clock = { ...systemClock, moveMs: 0, now: () => Date.now() + clock.moveMs };
  return clock;
}
