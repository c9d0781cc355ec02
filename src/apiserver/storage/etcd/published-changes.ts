import type { Logger } from '../../../base/index.ts';
import type { ReadHistory } from '../feed.ts';
import { ChangeFeed } from '../feed.ts';
import type { ChangeBatch, Revision, StoreChange } from '../types.ts';
import type { ChangeReceiver } from './follower.ts';
import type { Head } from './reads.ts';
import type { WriteAnswers } from './write-answers.ts';

/** The time in which etcd's revisions only grow, with its feed. */
interface Era {
  readonly feed: ChangeFeed;
  readonly over: AbortController;
}

/**
 * The changes that have been passed to the store's followers. When etcd was put back to an earlier state (a snapshot was
 * restored), or is another cluster, all followers get `compacted` and start again: only then do revisions go back.
 */
export class PublishedChanges implements ChangeReceiver {
  readonly #readHistory: ReadHistory;
  readonly #answers: WriteAnswers;
  readonly #log: Logger;
  readonly #replaced: (now: Revision, before: Revision) => void;
  #era: Era;
  /** Before the store was replaced there were revisions up to this one; they are no longer valid. */
  #void: Revision = 0;
  #lastChange: Revision;

  /** `replaced` is called when etcd was put back: with its present revision, and the highest one before. */
  constructor(
    revision: Revision,
    readHistory: ReadHistory,
    answers: WriteAnswers,
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

  /** The revision of the last known change of this store. */
  get lastChange(): Revision {
    return this.#lastChange;
  }

  append(changes: readonly StoreChange[], through: Revision): void {
    if (through <= this.revision) return;
    this.#era.feed.append(changes, through);
    for (const { key } of changes) this.#answers.eventArrived(key);
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

  /** Gives up telling revisions of before the replacement from present ones: none is doubtful any more. */
  trust(): void {
    this.#void = 0;
  }

  /** History before `upTo` is forgotten. */
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

  /** Ends all followers after they have taken their queued changes. */
  end(): void {
    this.#era.feed.end();
  }

  #begin(revision: Revision): Era {
    return { feed: new ChangeFeed(revision, this.#readHistory), over: new AbortController() };
  }
}
