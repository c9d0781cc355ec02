/** One who waits. */
export interface Waiting {
  /** Whose turn it takes. */
  readonly user: string;
}

interface Turns<T> {
  readonly waiting: Set<T>;
  /** Goes on with those who come later too. */
  readonly order: Iterator<T>;
}

/**
 * A line that serves its users in turn, and each user's own in the order in which they came: who sends a thousand
 * requests at once waits behind them, the others do not. All it does takes the same time however many wait.
 */
export class FairLine<T extends Waiting> {
  readonly #users = new Map<string, Turns<T>>();
  readonly #all = new Set<T>();
  #round: Iterator<Turns<T>> = this.#users.values();

  get size(): number {
    return this.#all.size;
  }

  sizeOf(user: string): number {
    return this.#users.get(user)?.waiting.size ?? 0;
  }

  /** All, who has waited longest first; some may be taken out on the way. */
  byAge(): Iterable<T> {
    return this.#all.values();
  }

  add(one: T): void {
    let turns = this.#users.get(one.user);
    if (turns === undefined) {
      const waiting = new Set<T>();
      turns = { waiting, order: waiting.values() };
      this.#users.set(one.user, turns);
    }
    turns.waiting.add(one);
    this.#all.add(one);
  }

  /** Takes out whose turn it is; undefined: nobody waits. */
  next(): T | undefined {
    if (this.size === 0) return undefined;
    const turn = this.#round.next();
    if (turn.done) {
      this.#round = this.#users.values();
      return this.next();
    }
    const first = turn.value.order.next().value;
    if (first !== undefined) this.remove(first);
    return first ?? this.next();
  }

  remove(one: T): void {
    const turns = this.#users.get(one.user);
    turns?.waiting.delete(one);
    if (turns?.waiting.size === 0) this.#users.delete(one.user);
    this.#all.delete(one);
  }
}
