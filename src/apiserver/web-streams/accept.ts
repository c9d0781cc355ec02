import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { StatusError } from '../../api/index.ts';
import type { Upgrade } from '../../base/https/index.ts';

/** Of one message; a client that has more to say says it in several. */
const maxMessageBytes = 8 * 1024 * 1024;
/** How long a client has to say that it closes too. */
const closeMs = 1000;

/** Throws 400 for what begins no WebSocket (RFC 6455, 4.2.1). */
export function checkHandshake({ method, headers }: IncomingMessage): void {
  const key = headers['sec-websocket-key'] ?? '';
  const version = headers['sec-websocket-version'];
  if (method === 'GET' && /^[+/0-9A-Za-z]{22}==$/.test(key) && version === '13') return;
  throw new StatusError('BadRequest', 'this begins no WebSocket: it needs GET, a key and version 13');
}

/**
 * Agrees to the protocol on a connection that was taken over. The request was checked. The library is loaded with the first one.
 * Resolves with a WebSocket that is paused, or undefined when the client is gone.
 */
export async function acceptWebSocket(
  request: IncomingMessage,
  { socket, head }: Pick<Upgrade, 'socket' | 'head'>,
  protocol: string,
): Promise<WebSocket | undefined> {
  const { WebSocketServer } = await import('ws');
  const limits = { maxPayload: maxMessageBytes, closeTimeout: closeMs, perMessageDeflate: false };
  const server = new WebSocketServer({
    ...{ noServer: true, clientTracking: false },
    ...limits,
  });
  // the library takes only names of protocols that are tokens, and one of the reference's is none
  delete request.headers['sec-websocket-protocol'];
  server.on('headers', (headers) => headers.push(`Sec-WebSocket-Protocol: ${protocol}`));
  if (socket.destroyed || socket.readableEnded) {
    socket.destroy();
    return undefined;
  }
  return await new Promise((resolve) => {
    const gone = () => resolve(undefined);
    socket.once('close', gone);
    server.handleUpgrade(request, socket, head, (webSocket) => {
      socket.off('close', gone);
      webSocket.pause(); // until its messages are listened to
      resolve(webSocket);
    });
  });
}
