import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { acceptWebSocket } from '../../../../src/apiserver/web-streams/accept.ts';
import type { StreamWishes } from '../../../../src/apiserver/web-streams/index.ts';
import { MessageMemory } from '../../../../src/apiserver/web-streams/index.ts';
import { translate } from '../../../../src/apiserver/web-streams/translate.ts';
import type { ManualClock } from '../../../support/manual-clock.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { socketPair } from '../../../support/socket-pair.ts';
import { SpdyServer } from '../../../support/spdy-server.ts';

/** A client over WebSocket and a runtime over SPDY, and between them what translates. */
export interface Session extends AsyncDisposable {
  readonly client: WebSocket;
  readonly runtime: SpdyServer;
  readonly clock: ManualClock;
  /** What came in messages, without the first, which is empty. */
  received(channel: number): Buffer;
  receivedBytes(channel: number): number;
  /** How many bytes for the client are kept in memory. */
  heldBytes(): number;
  /** The order of the channels in which they came. */
  readonly order: number[];
  /** With the code, when the WebSocket is closed. */
  readonly closed: Promise<number>;
  /** Resolves when the translation is over. */
  readonly done: Promise<void>;
  stop(): void;
}

export async function startSession(
  wishes: Partial<StreamWishes> = {},
  memory = new MessageMemory(),
  user = 'someone',
): Promise<Session> {
  const pair = await socketPair();
  const clock = createManualClock();
  const stopping = new AbortController();
  const server = createServer();
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  const run = async (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const webSocket = await acceptWebSocket(request, { socket, head }, 'v5.channel.k8s.io');
    if (webSocket === undefined) return;
    memory.watch(webSocket, socket, user, () => pair.near.writableLength);
    const wanted = { stdin: true, stdout: true, stderr: true, tty: false, ...wishes };
    const endings = [{ signal: stopping.signal, text: 'it stops' }];
    await translate(webSocket, socket, pair.near, wanted, { clock, endings, idleMs: 3_600_000 });
  };
  let translated: Socket | undefined;
  server.once('upgrade', (request, socket, head) => {
    if (socket instanceof Socket) translated = socket;
    if (socket instanceof Socket) run(request, socket, head).then(resolve, reject);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const client = new WebSocket(`ws://127.0.0.1:${port}/`, 'v5.channel.k8s.io');
  const came = new Map<number, Buffer[]>();
  const order: number[] = [];
  client.on('message', (data) => {
    if (!Buffer.isBuffer(data) || data.length < 2) return;
    const channel = data.readUInt8(0);
    order.push(channel);
    came.set(channel, [...(came.get(channel) ?? []), data.subarray(1)]);
  });
  const closed = new Promise<number>((resolveCode) => client.once('close', (code) => resolveCode(code)));
  await once(client, 'open');
  return {
    ...{ client, clock, order, closed, done, runtime: new SpdyServer(pair.far) },
    heldBytes: () => translated?.writableLength ?? 0,
    received: (channel) => Buffer.concat(came.get(channel) ?? []),
    receivedBytes: (channel) => (came.get(channel) ?? []).reduce((sum, { length }) => sum + length, 0),
    stop: () => stopping.abort(),
    async [Symbol.asyncDispose]() {
      client.terminate();
      server.close();
      await pair[Symbol.asyncDispose]();
      await done;
    },
  };
}
