import { StatusError } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { FairLine } from './fair-line.ts';

/** How many are worked on at once, and how many may wait for their turn. */
export interface SeatLimits {
  readonly seats: number;
  /** All together. */
  readonly waiting: number;
  /** Of one user. */
  readonly waitingEach: number;
  /** The bodies of those who wait, all together. */
  readonly waitingBytes: number;
  readonly waitMs: number;
}

/** Who wants a seat. */
export interface Asker {
  readonly user: string;
  /** Of the body that is kept while the request waits. */
  readonly bytes: number;
  /** Whoever closes it before the turn has come gives the place back. */
  readonly response: Response;
}

interface Response {
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

/** Why somebody got no seat; as the reference calls it in its metrics. */
export type RefusalReason = 'queue-full' | 'time-out' | 'cancelled';

/** Is told what became of those who could not begin at once. */
export interface SeatWatcher {
  waited(ms: number, seated: boolean): void;
  refused(why: RefusalReason): void;
}

interface Waiter extends Asker {
  readonly sinceMs: number;
  /** With a seat, or with what kept it from one. */
  settle(result: Disposable | RefusalReason): void;
}

/** How often it is looked for those who have waited too long: so much longer than `waitMs` it may take. */
const lookEveryMs = 100;

/**
 * Lets a number of requests be worked on at once. What comes beyond waits in a line that is fair between users and
 * bounded in number, bytes and time; what is beyond that is told to come again (429). While there are seats nothing is
 * kept of a request.
 */
export class Seats {
  readonly #limits: SeatLimits;
  readonly #clock: Clock;
  readonly #watcher: SeatWatcher;
  readonly #line = new FairLine<Waiter>();
  #busy = 0;
  #waitingBytes = 0;
  #looking = false;

  constructor(limits: SeatLimits, clock: Clock, watcher: SeatWatcher) {
    this.#limits = limits;
    this.#clock = clock;
    this.#watcher = watcher;
  }

  get busy(): number {
    return this.#busy;
  }

  get waiting(): number {
    return this.#line.size;
  }

  /** A seat, given back by disposing, now or when the turn has come. Throws and rejects with 429. */
  take(asker: Asker): Disposable | Promise<Disposable> {
    if (this.#busy < this.#limits.seats) {
      this.#busy++;
      return this.#seat();
    }
    const { waiting, waitingEach, waitingBytes } = this.#limits;
    const noRoom =
      this.#line.size >= waiting ||
      this.#waitingBytes + asker.bytes > waitingBytes ||
      this.#line.sizeOf(asker.user) >= waitingEach;
    if (noRoom) throw this.#refusal('queue-full');
    if (asker.response.destroyed) throw this.#refusal('cancelled');
    return this.#wait(asker);
  }

  #seat(): Disposable {
    let taken = true;
    return {
      [Symbol.dispose]: () => {
        if (taken) this.#giveBack();
        taken = false;
      },
    };
  }

  /** Passes the seat on: it is not free while somebody waits. */
  #giveBack(): void {
    const next = this.#line.next();
    if (next === undefined) this.#busy--;
    else next.settle(this.#seat());
  }

  #wait(asker: Asker): Promise<Disposable> {
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>();
    const leave = () => waiter.settle('cancelled');
    const waiter: Waiter = {
      ...asker,
      sinceMs: this.#clock.monotonicMs(),
      settle: (result) => {
        asker.response.off('close', leave);
        this.#line.remove(waiter);
        this.#waitingBytes -= asker.bytes;
        const seated = typeof result !== 'string';
        this.#watcher.waited(this.#clock.monotonicMs() - waiter.sinceMs, seated);
        if (seated) resolve(result);
        else reject(this.#refusal(result));
      },
    };
    asker.response.once('close', leave);
    this.#line.add(waiter);
    this.#waitingBytes += asker.bytes;
    if (!this.#looking) void this.#endTheLate();
    return promise;
  }

  async #endTheLate(): Promise<void> {
    this.#looking = true;
    while (this.#line.size > 0) {
      await this.#clock.sleep(lookEveryMs);
      const latestMs = this.#clock.monotonicMs() - this.#limits.waitMs;
      for (const waiter of this.#line.byAge()) {
        if (waiter.sinceMs > latestMs) break;
        waiter.settle('time-out');
      }
    }
    this.#looking = false;
  }

  #refusal(why: RefusalReason): StatusError {
    this.#watcher.refused(why);
    return new StatusError('TooManyRequests', this.#messageOf(why), { details: { retryAfterSeconds: 1 } });
  }

  #messageOf(why: RefusalReason): string {
    switch (why) {
      case 'queue-full':
        return 'too many requests wait for their turn: try again later';
      case 'time-out':
        return `the request waited ${this.#limits.waitMs / 1000} s for its turn: try again later`;
      case 'cancelled':
        return 'the client went before it was its turn';
    }
  }
}
