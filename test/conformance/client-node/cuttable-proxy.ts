import { once } from 'node:events';
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** A TCP proxy on 127.0.0.1 whose connections a test cuts. Disposal ends it. */
export class CuttableProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** While it is set, new connections are cut at once. */
  isDown = false;

  private constructor(server: Server, targetPort: number) {
    this.#server = server;
    server.on('connection', (socket) => this.#connect(socket, targetPort));
  }

  static async open(targetPort: number): Promise<CuttableProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new CuttableProxy(server, targetPort);
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('a proxy without a port');
    return address.port;
  }

  /** Resets every connection, wherever in the stream it is. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, 'close');
  }

  #connect(socket: Socket, port: number): void {
    if (this.isDown) {
      socket.resetAndDestroy();
      return;
    }
    const target = connect({ host: '127.0.0.1', port });
    const pair = [socket, target];
    for (const end of pair) {
      this.#sockets.add(end);
      end.on('error', () => undefined); // its close follows
      end.once('close', () => {
        this.#sockets.delete(end);
        for (const other of pair) other.destroy();
      });
    }
    socket.pipe(target).pipe(socket);
  }
}
