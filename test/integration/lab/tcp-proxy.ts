import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { freePort } from '../../support/index.ts';

/** Between a client and a server on the loopback. Disposal ends all connections. */
export interface TcpProxy extends AsyncDisposable {
  /** Of 127.0.0.1, always the same. */
  readonly port: number;
  /** Nothing passes any more, and nobody hears of it: connections stay open, new ones are accepted. */
  cut(): void;
  /** What was held back passes, and all that comes. */
  mend(): void;
  /** Every piece of data waits so long, in both directions; 0: none. */
  delayMs: number;
  /** Ends the connections there are, with a reset; new ones are possible. */
  reset(): void;
}

/** Passes on to a port of 127.0.0.1, whether or not somebody listens there yet. */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const port = await freePort();
  const pairs = new Set<Pair>();
  let isCut = false;
  const state = { delayMs: 0 };
  const server = createServer((client) => {
    const pair = new Pair(
      client,
      connect(target, '127.0.0.1'),
      () => state.delayMs,
      () => isCut,
    );
    pairs.add(pair);
    client.once('close', () => pairs.delete(pair));
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const each = (act: (pair: Pair) => void) => {
    for (const pair of pairs) act(pair);
  };
  return {
    port,
    cut() {
      isCut = true;
    },
    mend() {
      isCut = false;
      each((pair) => pair.flush());
    },
    get delayMs() {
      return state.delayMs;
    },
    set delayMs(ms) {
      state.delayMs = ms;
    },
    reset: () => each((pair) => pair.end()),
    async [Symbol.asyncDispose]() {
      server.close();
      each((pair) => pair.end());
      await once(server, 'close');
    },
  };
}

/** One connection and its other half. */
class Pair {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #ways: readonly Way[];

  constructor(client: Socket, server: Socket, delayMs: () => number, isCut: () => boolean) {
    this.#client = client;
    this.#server = server;
    this.#ways = [new Way(client, server, delayMs, isCut), new Way(server, client, delayMs, isCut)];
  }

  flush(): void {
    for (const way of this.#ways) way.flush();
  }

  end(): void {
    this.#client.resetAndDestroy();
    this.#server.resetAndDestroy();
  }
}

/** One direction: what comes leaves in the same order, however the delay changes. */
class Way {
  readonly #isCut: () => boolean;
  readonly #queue: { readonly dueMs: number; readonly send: () => void }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(from: Socket, to: Socket, delayMs: () => number, isCut: () => boolean) {
    this.#isCut = isCut;
    const later = (send: () => void) => {
      this.#queue.push({ dueMs: performance.now() + delayMs(), send });
      this.flush();
    };
    from.setNoDelay(true);
    from.on('data', (data: Buffer) => later(() => to.write(data)));
    from.on('error', () => undefined);
    from.on('close', () => later(() => to.destroy()));
  }

  flush(): void {
    clearTimeout(this.#timer);
    for (let first = this.#queue[0]; first !== undefined && !this.#isCut(); first = this.#queue[0]) {
      const waitMs = first.dueMs - performance.now();
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.flush(), waitMs);
        return;
      }
      this.#queue.shift();
      first.send();
    }
  }
}
