import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** The two ends of a real connection; both may be closed in halves. Disposing cuts it. */
export interface SocketPair extends AsyncDisposable {
  readonly near: Socket;
  readonly far: Socket;
}

export async function socketPair(): Promise<SocketPair> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const accepted: Promise<Socket[]> = once(server, 'connection');
  const near = connect({ port: address.port, host: '127.0.0.1', allowHalfOpen: true });
  const [far] = await accepted;
  server.close();
  if (far === undefined) throw new Error('nobody has connected');
  for (const end of [near, far]) end.on('error', () => undefined);
  return {
    near,
    far,
    async [Symbol.asyncDispose]() {
      near.destroy();
      far.destroy();
    },
  };
}
