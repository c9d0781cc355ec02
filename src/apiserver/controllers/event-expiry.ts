import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Event } from '../../api/index.ts';
import { eventKind, StatusError } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { Stored } from '../storage/index.ts';
import type { ControllerOptions } from './controller.ts';

/*
 * An Event goes some time after it was last written. Which ones are due is told by their revisions: every sweep notes
 * the time and the newest revision then, and what is not newer than a note that is old enough was not written since.
 * Revisions need no parsing and no clock but this process's own. Only for what was written before this process began,
 * the times in the Event itself count; and an hour after the start there is nothing of that left.
 */

export interface EventExpiryOptions extends ControllerOptions {
  /** How long after its last write an Event is kept; default one hour, as the reference. */
  ttlMs?: number | undefined;
}

/** Up to `revision` everything was written before `atMs`, monotonic. */
interface Note {
  atMs: number;
  revision: number;
}

const context = { user: controlPlaneUser, dryRun: false };
const defaultTtlMs = 3600_000;
const sweepsInTtl = 60;
const minPauseMs = 1000;
/** So many are looked at before others have their turn, and so many removed at once. */
const pageSize = 100;

/** Removes the Events whose time is over, within a sixtieth of their time to live. */
export function eventExpiry(options: EventExpiryOptions): Service {
  const { registry, storage, clock, log, ttlMs = defaultTtlMs } = options;
  const events = registry.of(eventKind);
  const prefix = events.prefix('');

  function isOver(stored: Stored, due: number, start: number): boolean {
    if (stored.revision <= due) return true;
    return stored.revision <= start && isOverByItself(events.encoding.read(stored), clock.now(), ttlMs);
  }

  async function remove({ key, revision }: Stored): Promise<void> {
    const [namespace = '', name = ''] = key.slice(prefix.length).split('/');
    try {
      await events.delete(namespace, name, { resourceVersion: `${revision}` }, context);
    } catch (error) {
      if (!(error instanceof StatusError && ['NotFound', 'Conflict'].includes(error.reason))) throw error;
    }
  }

  async function sweep(due: number, start: number, signal: AbortSignal): Promise<void> {
    for (let after = ''; !signal.aborted; ) {
      const page = storage.list(prefix, after, pageSize);
      await Promise.all(page.items.filter((stored) => isOver(stored, due, start)).map(remove));
      after = page.items.at(-1)?.key ?? '';
      if (page.remaining === 0) return;
      await nextTurn();
    }
  }

  return {
    name: 'event-expiry',
    dependsOn: [],
    onFailure: 'restart',
    async run(signal, ready) {
      const start = storage.applied;
      const notes: Note[] = [];
      ready();
      while (!signal.aborted) {
        notes.push({ atMs: clock.monotonicMs(), revision: storage.applied });
        await sweep(newestDue(notes, clock.monotonicMs() - ttlMs), start, signal).catch((error: unknown) => {
          log.warn(`old events could not be removed: ${describeError(error)}`);
        });
        await clock.sleep(Math.max(minPauseMs, ttlMs / sweepsInTtl), signal);
      }
    },
  };
}

/** The revision up to which everything was written before `limitMs`; forgets the notes that say less. */
function newestDue(notes: Note[], limitMs: number): number {
  const due = notes.filter(({ atMs }) => atMs <= limitMs).length;
  notes.splice(0, due - 1);
  return due === 0 ? 0 : (notes[0]?.revision ?? 0);
}

/** By the times in it; a time in the future tells nothing. */
function isOverByItself({ metadata, series, ...event }: Event, now: number, ttlMs: number): boolean {
  const created = Date.parse(metadata?.creationTimestamp ?? '');
  if (!(created <= now)) return false;
  const times = [event.firstTimestamp, event.lastTimestamp, event.eventTime, series?.lastObservedTime];
  const past = times.map((time) => Date.parse(time ?? '')).filter((time) => time <= now);
  return Math.max(created, ...past) + ttlMs < now;
}
