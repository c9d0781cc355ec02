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
  /** Who is served next comes first. */
  readonly #users = new Map<string, UserQueue<T>>();
  readonly #all = new Set<T>();
  /** Over `#users`; it also reaches users that are added later. */
  #round: Iterator<UserQueue<T>> = this.#users.values();
  /** Who was served last and has more: behind all who have come by the time that the next one is served. */
  #served: string | undefined;

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
    this.#moveServed();
    const nextUser = this.#round.next();
    if (nextUser.done) {
      this.#round = this.#users.values();
      return this.next();
    }
    const first = nextUser.value.order.next().value;
    if (first === undefined) return this.next();
    this.remove(first);
    if (this.#users.has(first.user)) this.#served = first.user;
    return first;
  }

  #moveServed(): void {
    const user = this.#served;
    this.#served = undefined;
    const userQueue = user === undefined ? undefined : this.#users.get(user);
    if (user === undefined || userQueue === undefined) return;
    this.#users.delete(user);
    this.#users.set(user, userQueue);
  }

  remove(entry: T): void {
    const userQueue = this.#users.get(entry.user);
    userQueue?.waiting.delete(entry);
    if (userQueue?.waiting.size === 0) this.#users.delete(entry.user);
    this.#all.delete(entry);
  }
}
