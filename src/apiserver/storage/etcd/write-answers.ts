/** A write from the time it is sent until its writer is answered. */
export interface PendingWrite {
  readonly key: string;
  /** Whether an event of its key has come for which no writer was answered. */
  hasEvent: boolean;
  /** The answer for its writer, once etcd has replied. */
  done?: { readonly revision: number; readonly atMs: number; readonly answer: () => void };
}

/**
 * Answers writers in the order of revisions, once the change that they made (or that caused their conflict) has been
 * passed to all followers. The reply to a write and its event arrive on different streams, in any order: a write whose
 * event has arrived holds back all later ones until its own reply is there.
 */
export class WriteAnswers {
  /** Writes for whose keys events have come, in the order of the events. */
  readonly #withEvent: PendingWrite[] = [];
  /** etcd has replied, but their event has not come (or there is none, as for a conflict). */
  readonly #waiting = new Set<PendingWrite>();
  readonly #byKey = new Map<string, PendingWrite>();
  #applied: number;

  constructor(applied: number) {
    this.#applied = applied;
  }

  /** One at a time for each key. */
  begin(key: string): PendingWrite {
    const pending: PendingWrite = { key, hasEvent: false };
    this.#byKey.set(key, pending);
    return pending;
  }

  /** To be called when an event of that key has come. */
  eventArrived(key: string): void {
    const pending = this.#byKey.get(key);
    if (pending === undefined || pending.hasEvent) return;
    pending.hasEvent = true;
    this.#waiting.delete(pending);
    this.#withEvent.push(pending);
  }

  /** `answer` is called once `revision` has been passed on and all writes before it are answered. */
  finish(pending: PendingWrite, revision: number, atMs: number, answer: () => void): void {
    pending.done = { revision, atMs, answer };
    if (!pending.hasEvent) this.#waiting.add(pending);
    this.#release();
  }

  /** Removes a write that has failed. */
  drop(pending: PendingWrite): void {
    if (pending.hasEvent) this.#withEvent.splice(this.#withEvent.indexOf(pending), 1);
    this.#waiting.delete(pending);
    this.#byKey.delete(pending.key);
    this.#release();
  }

  /** To be called when everything up to `revision` has been passed to the followers. */
  applied(revision: number): void {
    this.#applied = revision;
    this.#release();
  }

  /** Answers writers that have waited since before `atMs`, also without an event: a durable write is answered in any case. */
  giveUp(atMs: number): void {
    for (const pending of this.#waiting) {
      if (pending.done !== undefined && pending.done.atMs < atMs) this.#answer(pending);
    }
  }

  #release(): void {
    for (let first = this.#withEvent[0]; first?.done !== undefined; first = this.#withEvent[0]) {
      this.#withEvent.shift();
      first.hasEvent = false;
      if (first.done.revision <= this.#applied) this.#answer(first);
      else this.#waiting.add(first); // the event was another writer's
    }
    if (this.#waiting.size === 0) return;
    const ready = [...this.#waiting].filter(
      ({ done }) => done !== undefined && done.revision <= this.#applied,
    );
    ready.sort((a, b) => (a.done?.revision ?? 0) - (b.done?.revision ?? 0));
    for (const pending of ready) this.#answer(pending);
  }

  #answer(pending: PendingWrite): void {
    this.#waiting.delete(pending);
    this.#byKey.delete(pending.key);
    pending.done?.answer();
  }
}
