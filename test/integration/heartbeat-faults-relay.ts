import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/**
 * How what lies between an agent and the server behaves. `pass`: as it should. `refuse`: connections are reset as they
 * come. `reset`: a connection is reset as soon as something is asked on it. `swallow`: connections are taken, and what is
 * sent is lost. `garbage`: what answers is nothing that was asked for.
 */
export type RelayMode = 'pass' | 'refuse' | 'reset' | 'swallow' | 'garbage';

/** A TCP relay in front of a server. Disposal ends it with its connections. */
export interface Relay extends AsyncDisposable {
  readonly port: number;
  /** For new connections; `reset` for those that are open too. */
  mode: RelayMode;
  /** Open connections lose all that is sent from now on, and nobody is told; new ones are served. */
  forgetConnections(): void;
}

interface Line {
  client: Socket;
  server: Socket;
  isForgotten: boolean;
}

export async function startRelay(serverPort: number): Promise<Relay> {
  const lines = new Set<Line>();
  const sockets = new Set<Socket>();
  const relay = { mode: 'pass' as RelayMode };

  function open(client: Socket): void {
    sockets.add(client);
    client.on('error', () => undefined).on('close', () => sockets.delete(client));
    if (relay.mode === 'refuse') return void client.resetAndDestroy();
    if (relay.mode === 'garbage') return void client.resume().end('220 mail.example.org ESMTP\r\n');
    if (relay.mode === 'swallow') return void client.resume();
    const server = connect(serverPort, '127.0.0.1');
    const line = { client, server, isForgotten: false };
    lines.add(line);
    carry(line);
  }

  function carry(line: Line): void {
    const { client, server } = line;
    client.on('data', (bytes: Buffer) => {
      if (line.isForgotten) return;
      if (relay.mode === 'reset') client.resetAndDestroy();
      else server.write(bytes);
    });
    server.on('data', (bytes: Buffer) => void (line.isForgotten || client.write(bytes)));
    server.on('error', () => client.destroy());
    server.on('close', () => void (line.isForgotten || client.destroy()));
    client.on('close', () => {
      lines.delete(line);
      server.destroy();
    });
  }

  const listener = createServer(open);
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return Object.assign(relay, {
    port: portOf(listener),
    forgetConnections() {
      for (const line of lines) line.isForgotten = true;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => listener.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  });
}

function portOf(listener: Server): number {
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('it does not listen');
  return address.port;
}
