import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** One address in front of several servers on the loopback. Disposal ends all connections. */
export interface Balancer extends AsyncDisposable {
  readonly port: number;
}

/**
 * Hands each connection to one of the servers by chance, to another where that one does not take it. It knows of no
 * health: a connection to a server that dies is reset.
 */
export async function startBalancer(targets: () => readonly number[]): Promise<Balancer> {
  const open = new Set<Socket>();
  const server = createServer({ pauseOnConnect: true }, (client) => {
    track(client);
    hand(client, shuffled(targets()));
  });

  function track(socket: Socket): void {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => open.delete(socket));
  }

  function hand(client: Socket, [first, ...others]: readonly number[]): void {
    if (first === undefined) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(first, '127.0.0.1');
    track(upstream);
    const onRefused = () => hand(client, others);
    upstream.once('error', onRefused);
    upstream.once('connect', () => {
      upstream.off('error', onRefused);
      upstream.once('close', () => client.destroy());
      client.once('close', () => upstream.destroy());
      client.pipe(upstream);
      upstream.pipe(client);
      client.resume();
    });
  }

  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the balancer has no port');
  return {
    port: address.port,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, 'close');
    },
  };
}

function shuffled(ports: readonly number[]): readonly number[] {
  return [...ports]
    .map((port) => ({ port, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ port }) => port);
}
