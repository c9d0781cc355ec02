import type { Clock, Logger } from '../../../base/index.ts';
import { describeError, Mutex, untilAborted } from '../../../base/index.ts';
import type { ArchiveFolder, StoredCheckpoint } from '../archive-folder.ts';
import { timeOfId } from '../archive-folder.ts';
import type { Uses } from '../uses.ts';
import type { Candidate, Removal } from './plan.ts';
import { planRetention } from './plan.ts';
import type { RetentionSettings } from './settings.ts';
import { hasAgeLimits } from './settings.ts';
import { watchSteadyTime } from './steady-time.ts';

export interface KeeperOptions {
  archives: ArchiveFolder;
  uses: Uses;
  /** Whether `made` is still to be called for it. */
  isNew?(id: string): boolean;
  /** What counts now. */
  settings(): RetentionSettings;
  /** Is told of each that was removed. */
  removed(removal: Removal): void;
  clock: Clock;
  log: Logger;
}

/** What goes, or has gone. */
export interface RetentionOutcome {
  readonly removals: readonly Removal[];
  /** Limits by age are left out: the clock has not been steady for long enough. */
  readonly agesUnknown: boolean;
}

/** Keeps to the limits: after each checkpoint, and every five minutes for those that grow old. */
export interface Keeper {
  /** What would go now; removes nothing. */
  plan(): Promise<RetentionOutcome>;
  /** Removes what must go. One after the other, however many ask. */
  prune(requester: string): Promise<RetentionOutcome>;
  /** Has the limits looked after soon; that checkpoint is spared for this time. */
  made(id: string): void;
  /** Looks until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

const everyMs = 5 * 60_000;

/** Thrown while a checkpoint is about to be removed, when it must stay after all. */
class MustStay extends Error {}

export function createKeeper(options: KeeperOptions): Keeper {
  const { archives, uses, log, clock, settings } = options;
  const time = watchSteadyTime(clock);
  const mutex = new Mutex();
  const fresh = new Set<string>();
  let woken = Promise.withResolvers<void>();
  const told = new Set<string>();

  const isSpared = (id: string) => uses.isHeld(id) || fresh.has(id) || (options.isNew?.(id) ?? false);

  async function look(): Promise<RetentionOutcome> {
    const nowMs = time.now();
    const limits = settings();
    const all = await archives.list();
    const pinnedSets = new Set(all.map(({ record }) => (record?.pinned ? record.set : undefined)));
    pinnedSets.delete(undefined);
    const stays = ({ id, record }: StoredCheckpoint) => isSpared(id) || pinnedSets.has(record?.set);
    const candidates = all.map((each) => candidateOf(each, nowMs, stays(each)));
    const agesUnknown = nowMs === undefined && hasAgeLimits(limits);
    return { removals: planRetention(candidates, limits), agesUnknown };
  }

  /** Whether it is gone now: it may have been pinned, taken for reading or removed since it was looked at. */
  async function remove(removal: Removal, requester: string): Promise<boolean> {
    const { id, bytes, scope, limit } = removal;
    try {
      const gone = await archives.remove(id, ({ record }) => {
        if (record === undefined || record.pinned || isSpared(id)) throw new MustStay();
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
    options.removed(removal);
    return true;
  }

  async function prune(requester: string): Promise<RetentionOutcome> {
    using _lock = await mutex.acquire();
    const { removals, agesUnknown } = await look();
    const gone: Removal[] = [];
    for (const removal of removals) if (await remove(removal, requester)) gone.push(removal);
    return { removals: gone, agesUnknown };
  }

  /** Once for each: somebody may wonder why it is not listed. */
  async function tellStrangers(): Promise<void> {
    const names = (await archives.strangers())
      .filter((name) => !told.has(name))
      .slice(0, strangersTold - told.size);
    if (names.length === 0) return;
    for (const name of names) told.add(name);
    log.warn(
      { folder: archives.path, names: names.slice(0, 10), count: names.length },
      'there are files in the folder of checkpoints that are none; they are left alone',
    );
  }

  async function lookAfter(): Promise<void> {
    const spared = [...fresh];
    try {
      await prune('retention');
      await tellStrangers();
    } catch (error) {
      log.error({ error: describeError(error) }, 'cannot look after old checkpoints, trying again later');
    }
    for (const id of spared) fresh.delete(id);
  }

  return {
    plan: look,
    prune,
    made(id) {
      fresh.add(id);
      woken.resolve();
    },
    async run(signal) {
      while (!signal.aborted) {
        woken = Promise.withResolvers();
        await lookAfter();
        const rested = new AbortController();
        const either = AbortSignal.any([signal, rested.signal]);
        await Promise.race([clock.sleep(everyMs, either), woken.promise, untilAborted(either)]);
        rested.abort();
      }
    },
  };
}

/** How many strange files are told of in all. */
const strangersTold = 1000;

/** Without a sidecar nobody knows whether it was pinned, so it stays. */
function candidateOf(
  { id, bytes, modifiedMs, record }: StoredCheckpoint,
  nowMs: number | undefined,
  stays: boolean,
): Candidate {
  const finishedMs = Date.parse(record?.finishedAt ?? timeOfId(id));
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
