import type { Logger } from '../../../base/index.ts';
import type { ReadHistory } from '../feed.ts';
import { ChangeFeed } from '../feed.ts';
import type { Change, ChangeBatch, Revision } from '../types.ts';
import type { Answers } from './answers.ts';
import type { Follows } from './follower.ts';
import type { Head } from './reads.ts';

/** A feed as long as etcd's revisions only grow. */
interface Era {
  readonly feed: ChangeFeed;
  readonly over: AbortController;
}

/**
 * What all who follow have been told. When etcd was put back to an earlier state (a snapshot restored), or is another
 * cluster, all of them are told `compacted` and begin anew: that is the one way in which revisions go back.
 */
export class ToldChanges implements Follows {
  readonly #readHistory: ReadHistory;
  readonly #answers: Answers;
  readonly #log: Logger;
  readonly #replaced: (now: Revision, before: Revision) => void;
  #era: Era;
  /** Before the store was replaced there were revisions up to this one: they mean nothing any more. */
  #void: Revision = 0;
  #lastChange: Revision;

  /** `replaced` is told when etcd was put back: where it is now, and where it has been at most. */
  constructor(
    revision: Revision,
    readHistory: ReadHistory,
    answers: Answers,
    log: Logger,
    replaced: (now: Revision, before: Revision) => void,
  ) {
    this.#readHistory = readHistory;
    this.#answers = answers;
    this.#log = log;
    this.#replaced = replaced;
    this.#era = this.#begin(revision);
    this.#lastChange = revision;
  }

  get revision(): Revision {
    return this.#era.feed.revision;
  }

  /** At which something of this store was changed last, as far as is known. */
  get lastChange(): Revision {
    return this.#lastChange;
  }

  append(changes: readonly Change[], through: Revision): void {
    if (through <= this.revision) return;
    this.#era.feed.append(changes, through);
    for (const { key } of changes) this.#answers.saw(key);
    this.#lastChange = changes.at(-1)?.revision ?? this.#lastChange;
    this.#answers.applied(through);
  }

  jumpTo(through: Revision): void {
    if (through <= this.revision) return;
    this.#era.feed.jumpTo(through);
    this.#lastChange = through;
    this.#answers.applied(through);
  }

  replaced({ revision }: Head, why: string): void {
    this.#log.error(`the store in etcd is not what it was: ${why}; everything is read again`);
    const old = this.#era;
    this.#void = Math.max(this.#void, old.feed.revision);
    this.#era = this.#begin(revision);
    this.#lastChange = revision;
    old.over.abort();
    this.#answers.applied(revision);
    this.#replaced(revision, this.#void);
  }

  /** Revisions up to this one may be of before the store was replaced. */
  get doubtful(): Revision {
    return this.#void;
  }

  /** What came before cannot be told from what is now; it is left at that. */
  trust(): void {
    this.#void = 0;
  }

  /** All before is forgotten. */
  forget(upTo: Revision): void {
    this.#era.feed.forget(upTo);
  }

  /** As Store.changes. */
  async *changes(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
  ): AsyncGenerator<ChangeBatch | 'compacted', void> {
    const { feed, over } = this.#era;
    if (after > feed.revision && after <= this.#void) {
      if (!signal.aborted) yield 'compacted';
      return;
    }
    yield* feed.changes(prefix, after, AbortSignal.any([signal, over.signal]));
    if (over.signal.aborted && !signal.aborted) yield 'compacted';
  }

  /** Ends all who follow, after what they can still take. */
  end(): void {
    this.#era.feed.end();
  }

  #begin(revision: Revision): Era {
    return { feed: new ChangeFeed(revision, this.#readHistory), over: new AbortController() };
  }
}
