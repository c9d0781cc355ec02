import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Agreed, Upgrade } from '../../base/https/index.ts';
import type { Carried, JoinOptions } from '../../base/streams/index.ts';
import { createCloseNotice, joinStreams } from '../../base/streams/index.ts';
import { acceptWebSocket, checkHandshake } from './accept.ts';
import type { MessageMemory } from './message-memory.ts';
import type { StreamWishes } from './translate.ts';
import { translate } from './translate.ts';

/*
 * Newer clients speak WebSocket, and runtimes SPDY/3.1: what the one side says is said to the other one in its words, as the
 * reference does it.
 *
 *     v5.channel.k8s.io             a message has its channel in its first byte      each channel is a stream of SPDY
 *     SPDY/3.1+portforward.k8s.io   messages are pieces of a connection of SPDY      that connection
 */

export interface WebStream {
  /** Headers by which the agent is asked, with POST. */
  readonly asks: Readonly<Record<string, string>>;
  /** Resolves when both connections are over. The client's was taken over. */
  carry(request: IncomingMessage, upgrade: Upgrade, agreed: Agreed, options: JoinOptions): Promise<void>;
}

const channels = 'v5.channel.k8s.io';
/** Nobody has said that it closes (RFC 6455, 7.1.5). */
const lostClosure = 1006;
const tunnel = 'SPDY/3.1+portforward.k8s.io';

/** What all streams share, and whose this one is. */
export interface MessageRoom {
  readonly memory: MessageMemory;
  readonly user: string;
}

/** Undefined where a client's bytes can be passed on as they are. `wishes`: of a command. Throws 400. */
export function readWebStream(
  request: IncomingMessage,
  carried: Carried,
  wishes: StreamWishes,
  { memory, user }: MessageRoom,
): WebStream | undefined {
  const protocol = carried === 'command' ? channels : tunnel;
  if (!offers(request, protocol)) return undefined;
  checkHandshake(request);
  const asks = spdyHeaders(carried === 'command' ? 'v4.channel.k8s.io' : 'portforward.k8s.io');
  return {
    asks,
    async carry(asked, upgrade, agreed, options) {
      const webSocket = await acceptWebSocket(asked, upgrade, protocol);
      const { destroyed, readableEnded } = agreed.socket;
      if (webSocket === undefined || destroyed || readableEnded) {
        agreed.socket.destroy();
        webSocket?.terminate();
      } else if (carried === 'command') {
        memory.watch(webSocket, upgrade.socket, user, () => agreed.socket.writableLength);
        await translate(webSocket, upgrade.socket, agreed.socket, wishes, options);
      } else await carryTunnel(webSocket, upgrade.socket, agreed, options, { memory, user });
    },
  };
}

function spdyHeaders(protocol: string): Record<string, string> {
  return { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocol };
}

function offers({ headers }: IncomingMessage, protocol: string): boolean {
  if (headers.upgrade?.toLowerCase() !== 'websocket') return false;
  const offered = headers['sec-websocket-protocol'] ?? '';
  return offered.split(',').some((each) => each.trim() === protocol);
}

async function carryTunnel(
  webSocket: WebSocket,
  client: Socket,
  { answer, socket }: Agreed,
  options: JoinOptions,
  { memory, user }: MessageRoom,
): Promise<void> {
  const { createWebSocketStream } = await import('ws');
  const notice = createCloseNotice(answer.headers, 'ports');
  const stream = createWebSocketStream(webSocket);
  memory.watch(webSocket, client, user, () => stream.readableLength + socket.writableLength);
  // the library's stream does not close where its connection was lost before it had ended
  const settle = (code?: number) => {
    if (webSocket.readyState === webSocket.CLOSED && (code === lostClosure || socket.closed))
      stream.destroy();
  };
  webSocket.once('close', settle);
  socket.once('close', () => settle());
  await joinStreams(stream, socket, notice, options);
}
