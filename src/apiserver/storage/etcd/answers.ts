/** A write under way, from when it is sent until its writer is answered. */
export interface Flight {
  readonly key: string;
  /** Whether an event of its key has come that nobody was answered for. */
  isSeen: boolean;
  /** What to tell its writer, once that is known. */
  done?: { readonly revision: number; readonly atMs: number; readonly answer: () => void };
}

/**
 * Answers writers when what they wrote (or lost to) has been told to all who follow, in the order of revisions.
 * A reply and the event of a write come on two ways, in any order: a write whose event has come holds back all that
 * were written after it until its own reply is there.
 */
export class Answers {
  /** Writes of whose keys events have come, in the order of those. */
  readonly #seen: Flight[] = [];
  /** Done, but their event has not come (or there is none, as of a conflict). */
  readonly #waiting = new Set<Flight>();
  readonly #byKey = new Map<string, Flight>();
  #applied: number;

  constructor(applied: number) {
    this.#applied = applied;
  }

  /** One at a time for each key. */
  begin(key: string): Flight {
    const flight: Flight = { key, isSeen: false };
    this.#byKey.set(key, flight);
    return flight;
  }

  /** An event of that key has come. */
  saw(key: string): void {
    const flight = this.#byKey.get(key);
    if (flight === undefined || flight.isSeen) return;
    flight.isSeen = true;
    this.#waiting.delete(flight);
    this.#seen.push(flight);
  }

  /** `answer` is called once `revision` is told, and all before it are answered. */
  finish(flight: Flight, revision: number, atMs: number, answer: () => void): void {
    flight.done = { revision, atMs, answer };
    if (!flight.isSeen) this.#waiting.add(flight);
    this.#release();
  }

  /** It has failed, and nobody waits for it. */
  drop(flight: Flight): void {
    if (flight.isSeen) this.#seen.splice(this.#seen.indexOf(flight), 1);
    this.#waiting.delete(flight);
    this.#byKey.delete(flight.key);
    this.#release();
  }

  /** Everything up to `revision` has been told. */
  applied(revision: number): void {
    this.#applied = revision;
    this.#release();
  }

  /** Answers who has waited since before `atMs`, whatever was told: what is durable is not kept back for ever. */
  giveUp(atMs: number): void {
    for (const flight of this.#waiting) {
      if (flight.done !== undefined && flight.done.atMs < atMs) this.#answer(flight);
    }
  }

  #release(): void {
    for (let first = this.#seen[0]; first?.done !== undefined; first = this.#seen[0]) {
      this.#seen.shift();
      first.isSeen = false;
      if (first.done.revision <= this.#applied) this.#answer(first);
      else this.#waiting.add(first); // the event was another writer's
    }
    if (this.#waiting.size === 0) return;
    const ready = [...this.#waiting].filter(
      ({ done }) => done !== undefined && done.revision <= this.#applied,
    );
    ready.sort((a, b) => (a.done?.revision ?? 0) - (b.done?.revision ?? 0));
    for (const flight of ready) this.#answer(flight);
  }

  #answer(flight: Flight): void {
    this.#waiting.delete(flight);
    this.#byKey.delete(flight.key);
    flight.done?.answer();
  }
}
