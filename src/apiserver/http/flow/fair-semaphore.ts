import { StatusError } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { FairQueue } from './fair-queue.ts';

/** How many requests run at once, and how many may wait for a slot. */
export interface SlotLimits {
  readonly slots: number;
  /** Of all users together. */
  readonly maxWaiting: number;
  readonly maxWaitingPerUser: number;
  /** The bodies of all waiting requests together. */
  readonly maxWaitingBytes: number;
  readonly maxWaitMs: number;
}

/** A request that needs a slot. */
export interface SlotRequest {
  readonly user: string;
  /** Size of the body, which stays in memory while the request waits. */
  readonly bytes: number;
  /** When it closes while the request waits, the request leaves the queue. */
  readonly response: Response;
}

interface Response {
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

/** Why a request got no slot, by the names that the reference has in its metrics. */
export type RefusalReason = 'queue-full' | 'time-out' | 'cancelled';

/** Is notified of the outcome of requests that could not start at once. */
export interface SlotObserver {
  waited(ms: number, gotSlot: boolean): void;
  refused(why: RefusalReason): void;
}

interface Waiter extends SlotRequest {
  readonly sinceMs: number;
  /** Ends the wait with a slot, or with the reason why there is none. */
  settle(result: Disposable | RefusalReason): void;
}

/** How often the queue is checked for requests that waited too long: a wait may exceed `maxWaitMs` by so much. */
const expiryCheckMs = 100;

/**
 * Limits how many requests run at once. Further requests wait in a queue that is fair between users and bounded in number,
 * bytes and time; beyond these bounds they are refused with 429. While there are free slots nothing is kept of a request.
 */
export class FairSemaphore {
  readonly #limits: SlotLimits;
  readonly #clock: Clock;
  readonly #observer: SlotObserver;
  readonly #queue = new FairQueue<Waiter>();
  #busy = 0;
  #waitingBytes = 0;
  #expiring = false;

  constructor(limits: SlotLimits, clock: Clock, observer: SlotObserver) {
    this.#limits = limits;
    this.#clock = clock;
    this.#observer = observer;
  }

  get busy(): number {
    return this.#busy;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Takes a slot, released by disposing; resolves later when the request has to wait. Throws and rejects with 429. */
  take(request: SlotRequest): Disposable | Promise<Disposable> {
    if (this.#busy < this.#limits.slots) {
      this.#busy++;
      return this.#createSlot();
    }
    const { maxWaiting, maxWaitingPerUser, maxWaitingBytes } = this.#limits;
    const isFull =
      this.#queue.size >= maxWaiting ||
      this.#waitingBytes + request.bytes > maxWaitingBytes ||
      this.#queue.sizeOf(request.user) >= maxWaitingPerUser;
    if (isFull) throw this.#refusal('queue-full');
    if (request.response.destroyed) throw this.#refusal('cancelled');
    return this.#wait(request);
  }

  #createSlot(): Disposable {
    let isTaken = true;
    return {
      [Symbol.dispose]: () => {
        if (isTaken) this.#release();
        isTaken = false;
      },
    };
  }

  /** Passes the slot to the next waiting request; it becomes free only when no request waits. */
  #release(): void {
    const next = this.#queue.next();
    if (next === undefined) this.#busy--;
    else next.settle(this.#createSlot());
  }

  #wait(request: SlotRequest): Promise<Disposable> {
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>();
    const leave = () => waiter.settle('cancelled');
    const waiter: Waiter = {
      ...request,
      sinceMs: this.#clock.monotonicMs(),
      settle: (result) => {
        request.response.off('close', leave);
        this.#queue.remove(waiter);
        this.#waitingBytes -= request.bytes;
        const gotSlot = typeof result !== 'string';
        this.#observer.waited(this.#clock.monotonicMs() - waiter.sinceMs, gotSlot);
        if (gotSlot) resolve(result);
        else reject(this.#refusal(result));
      },
    };
    request.response.once('close', leave);
    this.#queue.add(waiter);
    this.#waitingBytes += request.bytes;
    if (!this.#expiring) void this.#expireWaiting();
    return promise;
  }

  async #expireWaiting(): Promise<void> {
    this.#expiring = true;
    while (this.#queue.size > 0) {
      await this.#clock.sleep(expiryCheckMs);
      const latestMs = this.#clock.monotonicMs() - this.#limits.maxWaitMs;
      for (const waiter of this.#queue.byAge()) {
        if (waiter.sinceMs > latestMs) break;
        waiter.settle('time-out');
      }
    }
    this.#expiring = false;
  }

  #refusal(why: RefusalReason): StatusError {
    this.#observer.refused(why);
    return new StatusError('TooManyRequests', this.#formatRefusal(why), {
      details: { retryAfterSeconds: 1 },
    });
  }

  #formatRefusal(why: RefusalReason): string {
    switch (why) {
      case 'queue-full':
        return 'too many requests wait for their turn: try again later';
      case 'time-out':
        return `the request waited ${this.#limits.maxWaitMs / 1000} s for its turn: try again later`;
      case 'cancelled':
        return 'the client went before it was its turn';
    }
  }
}
