import { dirname } from 'node:path';
import type { Clock, Logger } from '../../base/index.ts';
import type { MaintainedStore, Revision } from '../storage/index.ts';
import { StorageError, writeMark } from '../storage/index.ts';

/** A hold that is not renewed for this time ends by itself. */
export const holdMs = 30_000;

interface Held {
  readonly id: string;
  readonly to: string;
  readonly revision: Revision;
  readonly release: Disposable;
  timer: NodeJS.Timeout | undefined;
  /** The mark is being written: the hold lasts until that has succeeded or failed. */
  sealing: boolean;
  /** For good: the objects are elsewhere now. */
  sealed: boolean;
}

/** The state of a hold, for the migration that has it. */
export interface HoldReport {
  /** Nothing is written after this revision. */
  readonly revision: Revision;
  /** Whether it lasts until the server stops; the server then refuses to start again on this store. */
  readonly sealed: boolean;
}

/**
 * Keeps writers off a store of a running server while its last changes are copied elsewhere. The migration must renew the
 * hold periodically: when it dies, writers continue. There is one hold at a time.
 */
export class WriteHold {
  readonly #store: MaintainedStore;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #log: Logger;
  #held: Held | undefined;
  #beginning: string | undefined;

  constructor(store: MaintainedStore, clock: Pick<Clock, 'now'>, log: Logger) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  /** Begins a hold, or renews it. Undefined: another migration has one. `to`: where the objects go, for refused writers. */
  async take(id: string, to: string): Promise<HoldReport | undefined> {
    const held = this.#held;
    if (held !== undefined) {
      const isMine = held.id === id || (held.sealed && held.to === to);
      if (!isMine) return undefined;
      this.#renew(held);
      return { revision: held.revision, sealed: held.sealed };
    }
    if (this.#beginning !== undefined) return undefined;
    this.#beginning = id;
    try {
      return await this.#begin(id, to);
    } finally {
      this.#beginning = undefined;
    }
  }

  /**
   * Makes a hold permanent, also for future servers. Undefined: the hold at that revision was lost, and writers may have
   * continued.
   */
  async seal(id: string, at: Revision): Promise<HoldReport | undefined> {
    const held = this.#held;
    if (held === undefined || held.revision !== at) return undefined;
    if (held.id !== id && !held.sealed) return undefined;
    if (!held.sealed) {
      held.sealing = true;
      clearTimeout(held.timer);
      const { revision, to } = held;
      try {
        const now = new Date(this.#clock.now()).toISOString();
        await writeMark(dirname(this.#store.file), 'moved', { place: to, at: now });
      } catch (error) {
        held.sealing = false;
        this.#renew(held);
        throw error;
      }
      held.sealed = true;
      this.#log.warn(
        { to, revision },
        `the objects were moved to ${to}: stop this server and start it there`,
      );
    }
    return { revision: held.revision, sealed: true };
  }

  /** Writers continue, unless the hold is sealed or being sealed: then it is unknown what future servers will find. */
  release(id: string): void {
    const held = this.#held;
    if (held?.id === id) this.#end(held);
  }

  async #begin(id: string, to: string): Promise<HoldReport> {
    const reason = new StorageError(
      'moved',
      `the store is being moved to ${to}: it takes no writes meanwhile; nothing was changed`,
    );
    const release = await this.#store.holdWrites(reason);
    const { revision } = release;
    const held: Held = { id, to, revision, release, timer: undefined, sealing: false, sealed: false };
    this.#held = held;
    this.#renew(held);
    this.#log.warn({ to, revision }, `no writes are taken while the store is moved to ${to}`);
    return { revision, sealed: false };
  }

  #renew(held: Held): void {
    clearTimeout(held.timer);
    if (held.sealing || held.sealed) return;
    held.timer = setTimeout(() => this.#end(held), holdMs).unref();
  }

  #end(held: Held): void {
    if (held.sealing || held.sealed || this.#held !== held) return;
    clearTimeout(held.timer);
    this.#held = undefined;
    held.release[Symbol.dispose]();
    this.#log.warn({ to: held.to }, 'writes are taken again: the store was not moved');
  }
}
