import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import type { Clock } from '../../base/index.ts';
import type { Ended, JoinOptions } from '../../base/streams/index.ts';
import { followEndings, formatFailure, SpdyClient } from '../../base/streams/index.ts';

/** What a client wants of a container: which of its streams. */
export interface StreamWishes {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;
type Channel = keyof typeof channels;

const maxStatusBytes = 64 * 1024;
/** A client gives up that gets no answer to its pings for a minute, while its input is held up. */
const pongMs = 10_000;
/** With any other code clients report that, not the status that came before. */
const normalClosure = 1000;
const lost = 'the connection to the node was lost before it said how the command ended';

/**
 * Carries a command between a client, which has its channels in messages, and a runtime, which has them as streams of SPDY. `client`
 * is the connection of the WebSocket. Resolves when both are over.
 */
export async function translate(
  webSocket: WebSocket,
  client: Socket,
  runtime: Socket,
  wishes: StreamWishes,
  options: JoinOptions,
): Promise<void> {
  const closed = [
    new Promise<void>((resolve) => webSocket.once('close', () => resolve())),
    new Promise<void>((resolve) => (runtime.closed ? resolve() : runtime.once('close', () => resolve()))),
  ];
  const over = new AbortController();
  const translator = new Translator(webSocket, client, runtime, wishes, options.clock);
  const followed = followEndings(options, over.signal, translator);
  await Promise.all(closed);
  over.abort();
  await followed;
}

class Translator implements Ended {
  readonly #webSocket: WebSocket;
  readonly #client: Socket;
  readonly #runtime: Socket;
  readonly #clock: Clock;
  readonly #spdy: SpdyClient;
  readonly #streams = new Map<Channel, number>();
  /** From which something may still come. */
  readonly #open = new Set<Channel>();
  readonly #status: Buffer[] = [];
  #statusBytes = 0;
  #isEnding = false;
  lastMs: number;

  constructor(webSocket: WebSocket, client: Socket, runtime: Socket, wishes: StreamWishes, clock: Clock) {
    this.#webSocket = webSocket;
    this.#client = client;
    this.#runtime = runtime;
    this.#clock = clock;
    this.lastMs = clock.monotonicMs();
    webSocket.on('message', (data: RawData) => this.#fromClient(toBuffer(data)));
    webSocket.on('error', () => webSocket.terminate());
    webSocket.on('close', () => runtime.destroy());
    client.on('drain', () => runtime.resume());
    runtime.on('drain', () => webSocket.resume());
    this.#spdy = new SpdyClient(runtime);
    for (const channel of listChannels(wishes)) this.#openStream(channel);
    this.#send(this.#open.has('stdout') ? 'stdout' : 'error', Buffer.alloc(0)); // so that it knows: it is connected
    webSocket.resume();
  }

  /** Waits for no reader any more. */
  end(text: string): void {
    this.#finish(formatFailure('v5.channel.k8s.io', text));
    this.#webSocket.close(normalClosure, text);
  }

  #openStream(channel: Channel): void {
    const isOutput = channel !== 'stdin' && channel !== 'resize';
    if (isOutput) this.#open.add(channel);
    const streamId = this.#spdy.open(
      { streamtype: channel },
      {
        onData: (piece) => {
          if (isOutput) this.#fromRuntime(channel, piece);
        },
        onEnd: () => this.#endOutput(channel),
      },
    );
    this.#streams.set(channel, streamId);
  }

  #fromClient(message: Buffer): void {
    this.lastMs = this.#clock.monotonicMs();
    const stdin = this.#streams.get('stdin');
    const resize = this.#streams.get('resize');
    const [channel] = message;
    const isWanted = (id: number | undefined): id is number => id !== undefined;
    if (channel === channels.stdin && isWanted(stdin)) this.#write(stdin, message.subarray(1));
    if (channel === channels.resize && isWanted(resize)) this.#write(resize, message.subarray(1));
    if (channel === channels.close && message[1] === channels.stdin && isWanted(stdin)) {
      this.#streams.delete('stdin');
      this.#spdy.end(stdin);
    }
  }

  #write(streamId: number, bytes: Buffer): void {
    if (this.#spdy.write(streamId, bytes) || this.#webSocket.isPaused) return;
    this.#webSocket.pause();
    void this.#answerPings();
  }

  /** While nothing is read, and so no ping either. */
  async #answerPings(): Promise<void> {
    const over = new AbortController();
    const stop = () => over.abort();
    this.#runtime.once('drain', stop).once('close', stop);
    while (!over.signal.aborted) {
      await this.#clock.sleep(pongMs, over.signal);
      if (!over.signal.aborted && this.#webSocket.readyState === this.#webSocket.OPEN) this.#webSocket.pong();
    }
    this.#runtime.off('drain', stop).off('close', stop);
  }

  #fromRuntime(channel: Channel, piece: Buffer): void {
    this.lastMs = this.#clock.monotonicMs();
    if (channel === 'error') {
      this.#statusBytes += piece.length;
      if (this.#statusBytes <= maxStatusBytes) this.#status.push(Buffer.from(piece));
      return;
    }
    this.#send(channel, piece);
    if (this.#client.writableNeedDrain) this.#runtime.pause();
  }

  /** `sent`: called when it has left this process, or cannot. */
  #send(channel: Channel, bytes: Buffer, sent?: () => void): void {
    if (this.#isEnding || this.#webSocket.readyState !== this.#webSocket.OPEN) {
      sent?.();
      return;
    }
    const message = Buffer.allocUnsafe(bytes.length + 1);
    message.writeUInt8(channels[channel]);
    bytes.copy(message, 1);
    this.#webSocket.send(message, sent);
  }

  /** How the command ended is said behind all that it wrote. */
  #endOutput(channel: Channel): void {
    this.#open.delete(channel);
    if (this.#open.size > 0) return;
    const status = Buffer.concat(this.#status);
    this.#finish(status.length > 0 ? status : formatFailure('v5.channel.k8s.io', lost));
  }

  /** It closes when a client that reads slowly has taken all: the library gives one that is closing a second only. */
  #finish(status: Buffer): void {
    if (this.#isEnding) return;
    this.#send('error', status, () => this.#webSocket.close(normalClosure));
    this.#isEnding = true;
    this.#webSocket.resume(); // to see that the client closes too
    this.#spdy.destroy();
  }
}

/** In the order in which the reference opens them. */
function listChannels({ stdin, stdout, stderr, tty }: StreamWishes): Channel[] {
  const wanted: [Channel, boolean][] = [
    ['error', true],
    ['stdin', stdin],
    ['stdout', stdout],
    ['stderr', stderr && !tty],
    ['resize', tty],
  ];
  return wanted.flatMap(([channel, isWanted]) => (isWanted ? [channel] : []));
}

function toBuffer(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
