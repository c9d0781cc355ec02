import type { Clock, Logger, Service } from '../../../base/index.ts';
import { describeError, Semaphore } from '../../../base/index.ts';
import { RuntimeError } from '../../runtime/index.ts';
import { EventStream } from './event-stream.ts';
import type { ViewCalls } from './pod-reader.ts';
import { PodReader } from './pod-reader.ts';
import type { ToRead, WithEnd } from './pod-table.ts';
import { PodTable } from './pod-table.ts';
import type { PodPartIds, PodView, RuntimeView } from './types.ts';

/** How often everything is listed while events come: the safety net for what they did not tell. */
const relistMs = 30_000;
/** The same without events, and while the runtime does not answer. */
const pollMs = 1000;
/** A list after a subscription, for what happened between the runtime's taking it and the first list. */
const settleMs = 1000;
/** Pods whose statuses are read at a time; one that hangs takes one place for as long as one status may take. */
const podsAtOnce = 32;
/** How many puzzling events lead to how many lists: one in this time. */
const puzzleMs = 500;

export interface PodRuntimeViewOptions {
  readonly calls: ViewCalls;
  /** Called when everything was listed, with how long that took. */
  readonly onListed?: (seconds: number) => void;
  /** What is known of the end of a container beside what the runtime says; default: nothing. */
  readonly withEnd?: WithEnd;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A pod that is being read. */
interface Reading {
  /** What a later list has shown meanwhile. */
  next: ToRead | undefined;
  readonly done: Promise<void>;
}

/**
 * The view, as a service. It subscribes to the runtime's events before it lists; lists again when a subscription was renewed,
 * and each 30 s; a runtime without events is listed each second. What is read of one pod waits for no other.
 */
export class PodRuntimeView implements RuntimeView {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #onListed: ((seconds: number) => void) | undefined;
  readonly #table: PodTable;
  readonly #reader: PodReader;
  readonly #events: EventStream;
  readonly #listeners = new Set<(uid: string) => void>();
  /** Refreshes that were asked for and not yet sent. */
  readonly #asked = new Map<string, Promise<void>>();
  /** Why, of the pods whose statuses could not be read. */
  readonly #unread = new Map<string, string>();
  readonly #reading = new Map<string, Reading>();
  readonly #places = new Semaphore(() => podsAtOnce);
  readonly #completeListeners = new Set<() => void>();
  /** Counts up whenever the view has ceased to be complete. */
  #epoch = 0;
  #end = new AbortController();
  #isComplete = false;
  #outage: { readonly sinceMs: number; readonly message: string } | undefined;

  constructor({ calls, onListed, withEnd, clock, log }: PodRuntimeViewOptions) {
    this.#clock = clock;
    this.#log = log;
    this.#onListed = onListed;
    this.#table = new PodTable(withEnd);
    this.#reader = new PodReader(calls, this.#table, clock);
    this.#events = new EventStream({
      events: (cancel) => calls.events(cancel),
      clock,
      log,
      apply: (event, createdMs) => {
        const isPuzzling = this.#table.applyEvent(event, this.#reader.moment(createdMs));
        this.#announce();
        return isPuzzling;
      },
    });
  }

  isComplete(): boolean {
    return this.#isComplete;
  }

  pod(uid: string): PodView | undefined {
    return this.#table.pod(uid);
  }

  pods(): readonly PodView[] {
    return this.#table.pods();
  }

  onChange(listener: (uid: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Calls `listener` each time the view has become complete. */
  onComplete(listener: () => void): Disposable {
    this.#completeListeners.add(listener);
    return { [Symbol.dispose]: () => void this.#completeListeners.delete(listener) };
  }

  /** Since when the runtime has not answered a list, and why, for people; undefined while it does. */
  problem(): string | undefined {
    if (this.#outage === undefined) return undefined;
    const since = new Date(this.#outage.sinceMs).toISOString();
    return `the container runtime has not listed its pods since ${since}: ${this.#outage.message}`;
  }

  /** By the wall clock; undefined while the runtime answers lists. */
  unansweredSinceMs(): number | undefined {
    return this.#outage?.sinceMs;
  }

  /** Why the runtime does not tell of this pod, when it answers for others. A change of it is a change of the pod. */
  podProblem(uid: string): string | undefined {
    return this.#unread.get(uid);
  }

  async refresh(uid: string, cancel?: AbortSignal): Promise<PodView | undefined> {
    const refreshing = this.#refreshed(uid);
    await (cancel === undefined ? refreshing : unlessCancelled(refreshing, cancel));
    return this.#table.pod(uid);
  }

  async reread(uid: string, parts: PodPartIds, cancel?: AbortSignal): Promise<PodView | undefined> {
    const reading = this.#reader.read(parts, this.#end.signal).finally(() => this.#announce());
    await (cancel === undefined ? reading : unlessCancelled(reading, cancel));
    return this.#table.pod(uid);
  }

  run: Service['run'] = async (signal, ready) => {
    this.#end = new AbortController();
    const onAbort = () => this.#end.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    const following = this.#events.run(signal);
    try {
      ready();
      await this.#keepListing(signal);
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#end.abort();
      await following;
    }
  };

  async #keepListing(signal: AbortSignal): Promise<void> {
    let subscription = 0;
    while (!signal.aborted) {
      const isNew = this.#events.subscription !== subscription;
      subscription = this.#events.subscription;
      if (isNew) this.#lose();
      const isListed = await this.#listAll(signal);
      const isQuiet = isListed && this.#events.isOpen;
      const waitMs = isQuiet ? (isNew ? settleMs : relistMs) : pollMs;
      const isPuzzled = await this.#events.sleep(waitMs, signal);
      if (isPuzzled) await this.#clock.sleep(puzzleMs, signal);
    }
  }

  async #listAll(signal: AbortSignal): Promise<boolean> {
    const moment = this.#reader.moment();
    const startMs = this.#clock.monotonicMs();
    try {
      const listed = await this.#reader.list(signal);
      const plan = this.#table.applyList(listed, moment);
      this.#announce();
      this.#answered();
      this.#onListed?.((this.#clock.monotonicMs() - startMs) / 1000);
      const uids = new Set(plan.map(({ podUid }) => podUid));
      for (const uid of this.#unread.keys()) if (!uids.has(uid)) this.#noteRead(uid);
      const reads = plan.map((toRead) => this.#readPod(toRead, signal));
      if (!this.#isComplete) void this.#completeAfter(reads, signal);
      return true;
    } catch (error) {
      if (!signal.aborted) this.#unanswered(moment.atMs, describeError(error));
      return false;
    }
  }

  async #completeAfter(reads: readonly Promise<void>[], signal: AbortSignal): Promise<void> {
    const epoch = this.#epoch;
    await Promise.all(reads);
    if (this.#isComplete || epoch !== this.#epoch || signal.aborted) return;
    this.#isComplete = true;
    for (const listener of [...this.#completeListeners]) listener();
  }

  /** Never rejects: a pod that cannot be read holds up no other, and no list. */
  #readPod(toRead: ToRead, signal: AbortSignal): Promise<void> {
    const { podUid } = toRead;
    const underWay = this.#reading.get(podUid);
    if (underWay !== undefined) {
      underWay.next = toRead;
      return underWay.done;
    }
    const reading: Reading = {
      next: undefined,
      done: this.#places.run(() => this.#tryToRead(toRead, signal)),
    };
    this.#reading.set(podUid, reading);
    void reading.done.then(() => {
      this.#reading.delete(podUid);
      if (reading.next !== undefined && !signal.aborted) void this.#readPod(reading.next, signal);
    });
    return reading.done;
  }

  async #tryToRead(toRead: ToRead, signal: AbortSignal): Promise<void> {
    const { podUid } = toRead;
    const moment = this.#reader.moment();
    try {
      await this.#reader.read(toRead, signal);
      this.#noteRead(podUid);
    } catch (error) {
      if (signal.aborted) return;
      const message = describeError(error);
      this.#table.putUnread(toRead, moment, message);
      this.#noteUnread(podUid, message);
    }
    this.#announce();
  }

  /** Shared by those who ask before it is sent, which is in this turn of the event loop. */
  #refreshed(uid: string): Promise<void> {
    const asked = this.#asked.get(uid);
    if (asked !== undefined) return asked;
    const refreshing = Promise.resolve().then(() => {
      this.#asked.delete(uid);
      return this.#refreshNow(uid);
    });
    this.#asked.set(uid, refreshing);
    return refreshing;
  }

  async #refreshNow(uid: string): Promise<void> {
    const { signal } = this.#end;
    const moment = this.#reader.moment();
    const listed = await this.#reader.list(signal, uid);
    const plan = this.#table.applyList(listed, moment, { podUid: uid, whole: true });
    this.#announce();
    try {
      for (const toRead of plan) await this.#reader.read(toRead, signal);
      this.#noteRead(uid);
    } finally {
      this.#announce();
    }
  }

  #announce(): void {
    for (const uid of this.#table.takeChanged()) this.#notify(uid);
  }

  #notify(uid: string): void {
    for (const listener of [...this.#listeners]) listener(uid);
  }

  #noteUnread(uid: string, message: string): void {
    const isNew = !this.#unread.has(uid);
    this.#unread.set(uid, message);
    if (!isNew) return;
    this.#log.warn(`the container runtime does not tell the state of pod ${uid}: ${message}`);
    this.#notify(uid);
  }

  #noteRead(uid: string): void {
    if (this.#unread.delete(uid)) this.#notify(uid);
  }

  #answered(): void {
    if (this.#outage !== undefined) this.#log.info('the container runtime lists its pods again');
    this.#outage = undefined;
  }

  #lose(): void {
    this.#isComplete = false;
    this.#epoch += 1;
  }

  #unanswered(sinceMs: number, message: string): void {
    this.#lose();
    if (this.#outage === undefined)
      this.#log.warn(`the container runtime does not list its pods, trying on: ${message}`);
    this.#outage = { sinceMs: this.#outage?.sinceMs ?? sinceMs, message };
  }
}

async function unlessCancelled<T>(working: Promise<T>, cancel: AbortSignal): Promise<T> {
  const cancelled = Promise.withResolvers<never>();
  const onAbort = () =>
    cancelled.reject(new RuntimeError('cancelled', 'the query is not waited for any more'));
  if (cancel.aborted) onAbort();
  cancel.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([working, cancelled.promise]);
  } finally {
    cancel.removeEventListener('abort', onAbort);
  }
}
