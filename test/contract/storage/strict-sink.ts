import type { Sink, WatchEnd } from '../../../src/apiserver/storage/index.ts';

/** Keeps what it is given and notes every call that the contract of sinks rules out. */
export class StrictSink implements Sink {
  readonly faults: string[] = [];
  readonly #take: (event: string) => void;
  readonly #onEnd: (why: WatchEnd) => void;
  #phase: 'made' | 'watched' | 'started' | 'ended' | 'disposed' = 'made';
  #inside = false;
  /** The watch must not push before it is told of room. */
  #isFull = false;
  room = true;

  constructor(take: (event: string) => void, onEnd: (why: WatchEnd) => void) {
    this.#take = take;
    this.#onEnd = onEnd;
  }

  /** The call of `watch` is over. */
  watched(): void {
    this.#phase = 'watched';
  }

  /** The watch is about to be told that there is room. */
  resumed(): void {
    this.#isFull = false;
  }

  disposed(): void {
    this.#phase = 'disposed';
  }

  get isStarted(): boolean {
    return this.#phase === 'started';
  }

  start(): void {
    this.#must('start', this.#phase === 'watched');
    this.#phase = 'started';
  }

  push(frames: readonly Uint8Array[]): boolean {
    this.#must('push', this.#phase === 'started' && !this.#inside && !this.#isFull && frames.length > 0);
    this.#inside = true;
    this.#isFull = !this.room;
    for (const frame of frames) this.#take(Buffer.from(frame).toString());
    this.#inside = false;
    return this.room;
  }

  end(why: WatchEnd): void {
    this.#must('end', this.#phase === 'watched' || this.#phase === 'started');
    this.#phase = 'ended';
    this.#onEnd(why);
  }

  #must(call: string, holds: boolean): void {
    if (!holds) this.faults.push(`${call} while ${this.#phase}${this.#isFull ? ' and full' : ''}`);
  }
}
