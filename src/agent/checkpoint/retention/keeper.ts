import type { Clock, Logger } from '../../../base/index.ts';
import { describeError, Mutex, untilAborted } from '../../../base/index.ts';
import type { ArchiveFolder, StoredCheckpoint } from '../archive-folder.ts';
import type { ArchivesInUse } from '../archives-in-use.ts';
import { extractTime } from '../checkpoint-id.ts';
import type { Candidate, Removal } from './plan.ts';
import { planRetention } from './plan.ts';
import type { RetentionSettings } from './settings.ts';
import { hasAgeLimits } from './settings.ts';
import type { SteadyTime } from './steady-time.ts';
import { watchSteadyTime } from './steady-time.ts';

interface KeeperOptions {
  archives: ArchiveFolder;
  uses: ArchivesInUse;
  /** Whether `made` has not been called for that checkpoint yet, and will be. */
  isNew?(id: string): boolean;
  /** The limits that are in effect now. */
  settings(): RetentionSettings;
  /** Called for each checkpoint that was removed. */
  removed(removal: Removal): void;
  clock: Clock;
  log: Logger;
}

/** What is to be removed, or was removed. */
export interface RetentionOutcome {
  readonly removals: readonly Removal[];
  /** True: limits by age were not applied, because the clock has not been steady for long enough. */
  readonly agesUnknown: boolean;
}

const intervalMs = 5 * 60_000;
/** Bounds what is remembered: no more names than this are ever logged. */
const maxForeignNames = 1000;

/** Thrown to abort the removal of a checkpoint that must stay after all. */
class MustStay extends Error {}

/** Enforces the limits: after each new checkpoint, and every five minutes for those that grow old. */
export class Keeper {
  readonly #options: KeeperOptions;
  readonly #time: SteadyTime;
  readonly #mutex = new Mutex();
  /** Made since the last round: they are spared in the next one. */
  readonly #fresh = new Set<string>();
  readonly #loggedNames = new Set<string>();
  #woken = Promise.withResolvers<void>();

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#time = watchSteadyTime(options.clock);
  }

  /** What would be removed now; removes nothing. */
  async plan(): Promise<RetentionOutcome> {
    const nowMs = this.#time.now();
    const limits = this.#options.settings();
    const all = await this.#options.archives.list();
    const pinnedSets = new Set(all.map(({ record }) => (record?.pinned ? record.set : undefined)));
    pinnedSets.delete(undefined);
    const stays = ({ id, record }: StoredCheckpoint) => this.#isSpared(id) || pinnedSets.has(record?.set);
    const candidates = all.map((each) => toCandidate(each, nowMs, stays(each)));
    const agesUnknown = nowMs === undefined && hasAgeLimits(limits);
    return { removals: planRetention(candidates, limits), agesUnknown };
  }

  /** Removes what must go. Concurrent calls run one after the other. */
  async prune(requester: string): Promise<RetentionOutcome> {
    using _lock = await this.#mutex.acquire();
    const { removals, agesUnknown } = await this.plan();
    const gone: Removal[] = [];
    for (const removal of removals) if (await this.#remove(removal, requester)) gone.push(removal);
    return { removals: gone, agesUnknown };
  }

  /** Starts a round soon; the new checkpoint is spared in it. */
  made(id: string): void {
    this.#fresh.add(id);
    this.#woken.resolve();
  }

  /** Runs until `signal` aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#woken = Promise.withResolvers();
      await this.#runOnce();
      const rested = new AbortController();
      const either = AbortSignal.any([signal, rested.signal]);
      const interval = this.#options.clock.sleep(intervalMs, either);
      await Promise.race([interval, this.#woken.promise, untilAborted(either)]);
      rested.abort();
    }
  }

  async #runOnce(): Promise<void> {
    const spared = [...this.#fresh];
    try {
      await this.prune('retention');
      await this.#logForeignFiles();
    } catch (error) {
      const facts = { error: describeError(error) };
      this.#options.log.error(facts, 'cannot look after old checkpoints, trying again later');
    }
    for (const id of spared) this.#fresh.delete(id);
  }

  #isSpared(id: string): boolean {
    const { uses, isNew } = this.#options;
    return uses.isHeld(id) || this.#fresh.has(id) || (isNew?.(id) ?? false);
  }

  /** Returns whether it is gone. Since it was planned it may have been pinned, opened for reading or removed. */
  async #remove(removal: Removal, requester: string): Promise<boolean> {
    const { archives, log, removed } = this.#options;
    const { id, bytes, scope, limit } = removal;
    try {
      const gone = await archives.remove(id, ({ record }) => {
        if (record === undefined || record.pinned || this.#isSpared(id)) throw new MustStay();
      });
      if (gone === undefined) return false;
    } catch (error) {
      if (error instanceof MustStay) return false;
      log.error({ id, error: describeError(error) }, 'cannot remove a checkpoint that is too much');
      return false;
    }
    log.info(
      { audit: 'checkpoint', action: 'prune', id, bytes, scope, limit, requester },
      'old checkpoint removed',
    );
    removed(removal);
    return true;
  }

  /** Logs each name once: the operator may wonder why the file is not listed. */
  async #logForeignFiles(): Promise<void> {
    const { archives, log } = this.#options;
    const names = (await archives.listForeignFiles())
      .filter((name) => !this.#loggedNames.has(name))
      .slice(0, maxForeignNames - this.#loggedNames.size);
    if (names.length === 0) return;
    for (const name of names) this.#loggedNames.add(name);
    log.warn(
      { folder: archives.path, names: names.slice(0, 10), count: names.length },
      'there are files in the folder of checkpoints that are none; they are left alone',
    );
  }
}

/** One without a sidecar is kept: it may have been pinned. */
function toCandidate(
  { id, bytes, modifiedMs, record }: StoredCheckpoint,
  nowMs: number | undefined,
  stays: boolean,
): Candidate {
  const finishedMs = Date.parse(record?.finishedAt ?? extractTime(id));
  const madeMs = Number.isNaN(finishedMs) ? modifiedMs : finishedMs;
  return {
    id,
    bytes,
    ageMs: nowMs === undefined ? undefined : nowMs - madeMs,
    order: new Date(madeMs).toISOString(),
    owner: record,
    kept: stays || record === undefined || record.pinned,
  };
}
