import type { Duplex } from 'node:stream';
import type { Clock } from '../clock.ts';
import { formatDuration } from '../duration.ts';
import type { CloseNotice } from './close-notice.ts';

/** Something that ends a stream, and what its client learns then. */
export interface Ending {
  readonly signal: AbortSignal;
  readonly text: string;
}

export interface JoinOptions {
  /** How long nothing may come or go; milliseconds. */
  readonly idleMs: number;
  readonly endings: readonly Ending[];
  /** What the client learns when the server's side goes without a word, of what is open then. Default: nothing. */
  readonly lost?: string;
  readonly clock: Clock;
}

/** How often a client is asked whether it is there while nothing is read of it: that it has gone is seen by a write alone. */
const probeMs = 10_000;
/** How long a client has to read why its connection ends, and to close it itself. */
const noticeMs = 500;

/**
 * Passes on what comes from each side to the other one, as fast as that takes it. Resolves when both are closed. Without a notice
 * the client does not learn why it ends. Nobody else may read or write there.
 */
export async function joinStreams(
  client: Duplex,
  server: Duplex,
  notice: CloseNotice | undefined,
  options: JoinOptions,
): Promise<void> {
  const joint = new Joint(client, server, notice, options);
  const over = new AbortController();
  const closed = [client, server].map(
    (side) => new Promise<void>((resolve) => (side.closed ? resolve() : side.once('close', resolve))),
  );
  const done = followEndings(options, over.signal, joint);
  try {
    await Promise.all(closed);
  } finally {
    over.abort();
    await done;
    notice?.[Symbol.dispose]();
  }
}

/** A stream that can be ended. */
export interface Ended {
  /** When something came last, by the monotonic clock. */
  readonly lastMs: number;
  /** Tells the client why, and closes. Called again it does nothing. */
  end(text: string): void;
}

/** Ends the stream when one of the endings comes, or nothing else for too long; resolves with `over`. */
export async function followEndings(
  { endings, idleMs, clock }: JoinOptions,
  over: AbortSignal,
  stream: Ended,
): Promise<void> {
  for (const { signal, text } of endings) {
    const end = () => stream.end(text);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true, signal: over });
  }
  while (!over.aborted) {
    const leftMs = stream.lastMs + idleMs - clock.monotonicMs();
    if (leftMs <= 0) return stream.end(`nothing came or went for ${formatMs(idleMs)}`);
    await clock.sleep(leftMs, over);
  }
}

function formatMs(ms: number): string {
  return formatDuration(BigInt(Math.round(ms)) * 1_000_000n);
}

class Joint implements Ended {
  readonly #client: Duplex;
  readonly #server: Duplex;
  readonly #notice: CloseNotice | undefined;
  readonly #clock: Clock;
  readonly #lost: string | undefined;
  /** Why it ends. */
  #ending: string | undefined;
  lastMs: number;

  constructor(
    client: Duplex,
    server: Duplex,
    notice: CloseNotice | undefined,
    { clock, lost }: Pick<JoinOptions, 'clock' | 'lost'>,
  ) {
    this.#client = client;
    this.#server = server;
    this.#notice = notice;
    this.#clock = clock;
    this.#lost = lost;
    this.lastMs = clock.monotonicMs();
    for (const side of [client, server]) side.on('error', () => this.#cut());
    client.on('data', (bytes: Buffer) => this.#fromClient(bytes));
    server.on('data', (bytes: Buffer) => this.#fromServer(bytes));
    client.on('drain', () => server.resume());
    server.on('drain', () => client.resume());
    client.on('end', () => {
      server.end();
      if (this.#ending !== undefined) client.end();
    });
    server.on('end', () => {
      if (this.#ending === undefined && !this.#tellsLoss()) client.end();
    });
    client.on('close', () => server.destroy());
    server.on('close', () => this.#afterServer());
    client.resume();
    server.resume();
    // one that had ended before gives no event any more
    if (client.destroyed || client.readableEnded || server.destroyed) this.#cut();
    else if (server.readableEnded) client.end();
  }

  end(text: string): void {
    if (this.#ending !== undefined) return;
    this.#ending = text;
    this.#client.resume(); // what it still sends is not passed on, and its end is seen
    if (this.#notice === undefined) this.#cut();
    else {
      void this.#cutLater();
      if (this.#notice.neededBytes === 0) void this.#tell(this.#notice, text);
    }
  }

  #fromClient(bytes: Buffer): void {
    if (this.#ending !== undefined || this.#server.destroyed) return;
    this.lastMs = this.#clock.monotonicMs();
    this.#notice?.fromClient(bytes);
    if (!this.#server.write(bytes)) this.#holdClient();
  }

  #holdClient(): void {
    if (this.#client.isPaused()) return;
    this.#client.pause();
    if (this.#notice !== undefined) void this.#probeClient(this.#notice);
  }

  async #probeClient(notice: CloseNotice): Promise<void> {
    const over = new AbortController();
    const stop = () => over.abort();
    this.#server.once('drain', stop).once('close', stop);
    while (!over.signal.aborted && this.#ending === undefined) {
      await this.#clock.sleep(probeMs, over.signal);
      const isBetween = this.#ending === undefined && notice.neededBytes === 0;
      const isIdle = this.#client.writable && this.#client.writableLength === 0;
      if (!over.signal.aborted && isBetween && isIdle) this.#client.write(notice.probe);
    }
    this.#server.off('drain', stop).off('close', stop);
  }

  #fromServer(bytes: Buffer): void {
    this.lastMs = this.#clock.monotonicMs();
    if (this.#ending === undefined) {
      this.#notice?.fromServer(bytes);
      if (!this.#client.write(bytes)) this.#server.pause();
    } else if (this.#notice !== undefined) this.#finishFrame(this.#notice, bytes, this.#ending);
  }

  /** Passes on what is missing of the frame that has begun, and nothing more. */
  #finishFrame(notice: CloseNotice, bytes: Buffer, text: string): void {
    if (notice.neededBytes === 0) return;
    for (let at = 0; at < bytes.length && notice.neededBytes > 0; ) {
      const piece = bytes.subarray(at, at + notice.neededBytes);
      notice.fromServer(piece);
      this.#client.write(piece);
      at += piece.length;
    }
    if (notice.neededBytes === 0) void this.#tell(notice, text);
  }

  async #tell(notice: CloseNotice, text: string): Promise<void> {
    const frames = await notice.frames(text);
    if (frames.length > 0 && this.#client.writable) this.#client.write(frames);
  }

  /** The client may close first: it has all that there is. */
  async #cutLater(): Promise<void> {
    const gone = new AbortController();
    this.#client.once('close', () => gone.abort());
    if (this.#client.closed) gone.abort();
    await this.#clock.sleep(noticeMs, gone.signal);
    this.#server.destroy();
    this.#client.end();
    await this.#clock.sleep(noticeMs, gone.signal);
    this.#cut();
  }

  /** Tells the client of what the server had not ended before it went. */
  #tellsLoss(): boolean {
    const isOpen = this.#notice?.neededBytes === 0 && this.#notice.hasOpen && !this.#client.destroyed;
    if (isOpen && this.#lost !== undefined) this.end(this.#lost);
    return this.#ending !== undefined;
  }

  /** What the server has sent before it closed is still delivered. */
  #afterServer(): void {
    if (this.#ending !== undefined || this.#tellsLoss()) return;
    if (this.#server.readableEnded) this.#client.end();
    else this.#client.destroy();
    this.#client.resume(); // what it still sends goes nowhere; its end would not be seen while its input is held up
  }

  #cut(): void {
    this.#client.destroy();
    this.#server.destroy();
  }
}
