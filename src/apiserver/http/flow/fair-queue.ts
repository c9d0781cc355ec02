/** An entry of the queue. */
export interface Waiting {
  /** The user on whose behalf it waits. */
  readonly user: string;
}

interface UserQueue<T> {
  readonly waiting: Set<T>;
  /** Over `waiting`; it also reaches entries that are added later. */
  readonly order: Iterator<T>;
}

/**
 * A queue that serves users round-robin, and the entries of one user in the order of their arrival: a user who sends a
 * thousand requests at once waits behind their own requests, other users do not. Every operation takes constant time.
 */
export class FairQueue<T extends Waiting> {
  readonly #users = new Map<string, UserQueue<T>>();
  readonly #all = new Set<T>();
  #round: Iterator<UserQueue<T>> = this.#users.values();

  get size(): number {
    return this.#all.size;
  }

  sizeOf(user: string): number {
    return this.#users.get(user)?.waiting.size ?? 0;
  }

  /** All entries, oldest first; entries may be removed during the iteration. */
  byAge(): Iterable<T> {
    return this.#all.values();
  }

  add(entry: T): void {
    let userQueue = this.#users.get(entry.user);
    if (userQueue === undefined) {
      const waiting = new Set<T>();
      userQueue = { waiting, order: waiting.values() };
      this.#users.set(entry.user, userQueue);
    }
    userQueue.waiting.add(entry);
    this.#all.add(entry);
  }

  /** Removes and returns the next entry; undefined when the queue is empty. */
  next(): T | undefined {
    if (this.size === 0) return undefined;
    const nextUser = this.#round.next();
    if (nextUser.done) {
      this.#round = this.#users.values();
      return this.next();
    }
    const first = nextUser.value.order.next().value;
    if (first !== undefined) this.remove(first);
    return first ?? this.next();
  }

  remove(entry: T): void {
    const userQueue = this.#users.get(entry.user);
    userQueue?.waiting.delete(entry);
    if (userQueue?.waiting.size === 0) this.#users.delete(entry.user);
    this.#all.delete(entry);
  }
}
