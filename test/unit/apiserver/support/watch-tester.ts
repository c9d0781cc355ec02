import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import type { Status } from '../../../../src/api/index.ts';
import type { Shown } from './objects.ts';

export interface WatchEvent {
  type: string;
  object: Shown & Status;
}

/** Only what hangs takes so long, also on a machine that does much else. */
const limitMs = 45_000;

/** The reader of a watch. */
export class WatchTester implements Disposable {
  readonly #message: IncomingMessage;
  readonly #events: WatchEvent[] = [];
  readonly #ended = Promise.withResolvers<void>();
  #wake = Promise.withResolvers<void>();
  #rest = '';
  #over = false;

  constructor(message: IncomingMessage) {
    this.#message = message;
    message.setEncoding('utf8');
    message.on('data', (text: string) => this.#take(text));
    message.on('error', () => this.#end());
    message.once('close', () => this.#end());
    message.once('end', () => this.#end());
  }

  /** Settles when the stream has ended, however it did. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get contentType(): string | undefined {
    return this.#message.headers['content-type'];
  }

  /** The next event; fails when the watch ends first. */
  async next(): Promise<WatchEvent> {
    const timeout = AbortSignal.timeout(limitMs);
    while (this.#events.length === 0) {
      assert.ok(!this.#over, 'the watch ended before the next event');
      assert.ok(!timeout.aborted, 'no event came in time');
      this.#wake = Promise.withResolvers();
      timeout.addEventListener('abort', () => this.#wake.resolve(), { once: true });
      await this.#wake.promise;
    }
    const [event] = this.#events.splice(0, 1);
    assert.ok(event);
    return event;
  }

  /** So many next events, as `TYPE name`. */
  async take(count: number): Promise<string[]> {
    const taken: string[] = [];
    while (taken.length < count) {
      const { type, object } = await this.next();
      taken.push(`${type} ${object.metadata.name}`);
    }
    return taken;
  }

  /** Everything that came and was not taken. */
  get left(): readonly WatchEvent[] {
    return this.#events;
  }

  /** Whether the stream was ended in order, with its last chunk. */
  get isComplete(): boolean {
    return this.#message.complete;
  }

  pause(): void {
    this.#message.pause();
  }

  resume(): void {
    this.#message.resume();
  }

  /** Goes away without a word. */
  [Symbol.dispose](): void {
    this.#message.destroy();
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#events.push(JSON.parse(line));
    this.#wake.resolve();
  }

  #end(): void {
    this.#over = true;
    this.#wake.resolve();
    this.#ended.resolve();
  }
}
