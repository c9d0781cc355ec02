/** Clients of streams into pods that read, write and go as a test wants it, in both protocols. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { FrameReader } from '../../../src/base/streams/frame-reader.ts';
import { SpdyClient } from '../../../src/base/streams/index.ts';
import { webSocketFormat } from '../../../src/base/streams/web-socket-notice.ts';
import { clientOptionsOf, readKubeconfig } from '../../../src/client/index.ts';

export interface StreamServer {
  readonly server: string;
  readonly tls: { readonly ca: string; readonly cert: string; readonly key: string };
}

export async function streamServerOf(kubeconfig: string): Promise<StreamServer> {
  const { server, ca, cert = '', key = '' } = clientOptionsOf(await readKubeconfig(kubeconfig));
  return { server, tls: { ca, cert, key } };
}

/** WebSocket: `v5.channel.k8s.io` for commands, the tunnel for ports. */
export const protocols = ['SPDY', 'WebSocket'] as const;
export type Protocol = (typeof protocols)[number];

/** A command with an input and two outputs. */
export interface CommandSession {
  /** Resolves when more may be written. */
  write(bytes: Buffer): Promise<void>;
  end(): void;
  /** Each piece of an output; may be replaced. */
  onOutput: (piece: Buffer, from: 'stdout' | 'stderr') => void;
  /** Reads nothing more. */
  pause(): void;
  resume(): void;
  /** What was said of its end; empty when nothing was. */
  readonly status: Promise<string>;
  /** Goes without a word. */
  close(): void;
}

const podPath = (pod: string) => `/api/v1/namespaces/default/pods/${pod}`;
const spdyHeaders = (protocol: string) => ({
  ...{ connection: 'Upgrade', upgrade: 'SPDY/3.1' },
  'x-stream-protocol-version': protocol,
});

const wishes = { stdin: 'true', stdout: 'true', stderr: 'true', container: 'main' };

export function execPath(pod: string, ...command: string[]): string {
  const words = command.map((word): [string, string] => ['command', word]);
  return `${podPath(pod)}/exec?${new URLSearchParams([...Object.entries(wishes), ...words])}`;
}

export function attachPath(pod: string): string {
  return `${podPath(pod)}/attach?${new URLSearchParams(wishes)}`;
}

/** Rejects when it is not agreed to, or `signal` aborts before. */
export async function startCommand(
  { server, tls }: StreamServer,
  protocol: Protocol,
  path: string,
  signal?: AbortSignal,
): Promise<CommandSession> {
  if (protocol === 'SPDY') {
    const options = { ...tls, method: 'POST', agent: false, headers: spdyHeaders('v4.channel.k8s.io') };
    return commandOverSpdy(await agreed(httpsRequest(server + path, options), signal));
  }
  return commandOverWebSocket(await openWebSocket({ server, tls }, path, 'v5.channel.k8s.io', signal));
}

/** The same at a runtime's own server. */
export async function startCommandAt(url: string): Promise<CommandSession> {
  const headers = spdyHeaders('v4.channel.k8s.io');
  return commandOverSpdy(await agreed(httpRequest(url, { method: 'POST', agent: false, headers })));
}

/** A connection of SPDY on which connections to ports of the pod are opened. */
export async function startForwarding(
  { server, tls }: StreamServer,
  protocol: Protocol,
  pod: string,
  signal?: AbortSignal,
): Promise<SpdyClient> {
  const path = `${podPath(pod)}/portforward`;
  if (protocol === 'SPDY') {
    const options = { ...tls, method: 'POST', agent: false, headers: spdyHeaders('portforward.k8s.io') };
    return new SpdyClient(await agreed(httpsRequest(server + path, options), signal));
  }
  const options = { ...tls, agent: false, headers: tunnelHeaders };
  return new SpdyClient(new Tunnel(await agreed(httpsRequest(server + path, options), signal)));
}

const tunnelHeaders = {
  ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
  ...{ 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
  'sec-websocket-protocol': 'SPDY/3.1+portforward.k8s.io', // no token, so the library does not ask for it
};

/** Bytes in messages of a WebSocket, in both directions. */
class Tunnel extends Duplex {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    let isData = false;
    const reader = new FrameReader(webSocketFormat, {
      onHead: (head) => {
        isData = (head.readUInt8(0) & 0x0f) < 8;
      },
      onPayload: (piece) => {
        if (isData && !this.push(piece)) socket.pause();
      },
      onEnd: () => undefined,
    });
    socket.on('data', (bytes: Buffer) => reader.read(bytes));
    socket.on('error', () => this.destroy());
    socket.on('close', () => this.destroy());
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const head = Buffer.from([0x82, 0xff, ...Buffer.alloc(12)]); // a mask of zeros changes nothing
    head.writeBigUInt64BE(BigInt(bytes.length), 2);
    this.#socket.write(Buffer.concat([head, bytes]), () => done());
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}

/** The same at a runtime's own server. */
export async function startForwardingAt(url: string): Promise<SpdyClient> {
  const headers = spdyHeaders('portforward.k8s.io');
  return new SpdyClient(await agreed(httpRequest(url, { method: 'POST', agent: false, headers })));
}

const nothing = { onData: () => undefined, onEnd: () => undefined };

/** Sends a text to a port; resolves with the error, if any, when the other side has ended. */
export async function askPort(
  client: SpdyClient,
  port: number,
  text: string,
  onData: (piece: Buffer) => void,
): Promise<string> {
  const names = { port: String(port), requestid: '0' };
  const error = Promise.withResolvers<string>();
  const data = Promise.withResolvers<void>();
  let said = '';
  const errors = client.open(
    { streamtype: 'error', ...names },
    {
      onData: (piece) => {
        said += String(piece);
      },
      onEnd: () => error.resolve(said),
    },
  );
  client.end(errors);
  const stream = client.open({ streamtype: 'data', ...names }, { onData, onEnd: data.resolve });
  client.write(stream, Buffer.from(text)); // not ended: runtimes wait a second only for what comes after that
  await data.promise;
  return await error.promise;
}

async function agreed(asking: ReturnType<typeof httpRequest>, signal?: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const stop = () => asking.destroy(new Error('it was given up'));
  signal?.addEventListener('abort', stop);
  asking.once('error', reject);
  asking.once('response', async (answer) => {
    let text = '';
    for await (const piece of answer) text += String(piece);
    reject(new Error(`it answered ${answer.statusCode}: ${text}`));
  });
  asking.once('upgrade', (_answer, socket: Socket, head: Buffer) => {
    if (head.length > 0) socket.unshift(head);
    resolve(socket.setNoDelay(true));
  });
  asking.end();
  if (signal?.aborted) stop();
  return await promise.finally(() => signal?.removeEventListener('abort', stop));
}

async function openWebSocket(
  { server, tls }: StreamServer,
  path: string,
  protocol: string,
  signal?: AbortSignal,
): Promise<WebSocket> {
  const socket = new WebSocket(server.replace('https', 'wss') + path, [protocol], tls);
  const failed = Promise.withResolvers<never>();
  socket.on('error', failed.reject);
  socket.pause();
  const stop = () => socket.terminate();
  signal?.addEventListener('abort', stop);
  if (signal?.aborted) stop();
  await Promise.race([once(socket, 'open'), failed.promise]).finally(() =>
    signal?.removeEventListener('abort', stop),
  );
  return socket;
}

function commandOverSpdy(socket: Socket): CommandSession {
  const client = new SpdyClient(socket);
  const status = Promise.withResolvers<string>();
  let said = '';
  client.open(
    { streamtype: 'error' },
    {
      onData: (piece) => {
        said += String(piece);
      },
      onEnd: () => status.resolve(said),
    },
  );
  const stdin = client.open({ streamtype: 'stdin' }, nothing);
  const session: CommandSession = {
    async write(bytes) {
      if (client.write(stdin, bytes)) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      socket.once('drain', resolve).once('close', resolve);
      await promise;
      socket.off('drain', resolve).off('close', resolve);
    },
    end: () => client.end(stdin),
    onOutput: () => undefined,
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    status: status.promise,
    close: () => client.destroy(),
  };
  for (const streamtype of ['stdout', 'stderr'] as const)
    client.open({ streamtype }, { ...nothing, onData: (piece) => session.onOutput(piece, streamtype) });
  return session;
}

const channels = ['stdin', 'stdout', 'stderr', 'error'] as const;

function commandOverWebSocket(socket: WebSocket): CommandSession {
  const status = Promise.withResolvers<string>();
  let said = '';
  const session: CommandSession = {
    write: (bytes) =>
      new Promise((resolve) => {
        socket.send(Buffer.concat([Buffer.from([0]), bytes]), () => resolve());
      }),
    end: () => socket.send(Buffer.from([255, 0])),
    onOutput: () => undefined,
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    status: status.promise,
    close: () => socket.terminate(),
  };
  socket.on('message', (data) => {
    if (!Buffer.isBuffer(data)) return;
    const channel = channels[data[0] ?? 0];
    if (channel === 'stdout' || channel === 'stderr') session.onOutput(data.subarray(1), channel);
    if (channel === 'error') said += String(data.subarray(1));
  });
  socket.on('close', () => status.resolve(said));
  socket.resume();
  return session;
}
