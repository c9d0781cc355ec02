import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Event } from '../../api/index.ts';
import { eventKind, StatusError } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import { UnreadableError } from '../registry/index.ts';
import type { Stored } from '../storage/index.ts';
import type { ControllerOptions } from './controller.ts';

/*
 * An Event is removed some time after it was last written. Its revision tells whether it is due: every sweep records the
 * time and the newest revision at that time, and an Event whose revision is not newer than a record that is old enough
 * has not been written since. Revisions need no parsing and no clock but this process's own. The times in the Event
 * itself count only for Events written before this process started; once the time to live has passed after the start,
 * none of those is left.
 */

export interface EventExpiryOptions extends ControllerOptions {
  /** How long after its last write an Event is kept; default one hour, as the reference. */
  ttlMs?: number | undefined;
}

/** Everything up to `revision` was written before `atMs`, monotonic. */
interface RevisionTime {
  atMs: number;
  revision: number;
}

const context = { user: controlPlaneUser, dryRun: false };
const defaultTtlMs = 3600_000;
const sweepsInTtl = 60;
const minPauseMs = 1000;
/** Events checked before the event loop continues, and events removed at once. */
const pageSize = 100;

/** Removes expired Events, at most a sixtieth of their time to live too late. */
export function eventExpiry(options: EventExpiryOptions): Service {
  const { registry, storage, clock, log, ttlMs = defaultTtlMs } = options;
  const events = registry.of(eventKind);
  const prefix = events.prefix('');

  function isExpired(stored: Stored, due: number, start: number): boolean {
    if (stored.revision <= due) return true;
    return stored.revision <= start && isExpiredByOwnTimes(events.encoding.read(stored), clock.now(), ttlMs);
  }

  async function remove({ key, revision }: Stored): Promise<void> {
    const [namespace = '', name = ''] = key.slice(prefix.length).split('/');
    try {
      await events.delete(namespace, name, { resourceVersion: `${revision}` }, context);
    } catch (error) {
      if (error instanceof UnreadableError) return;
      if (!(error instanceof StatusError && ['NotFound', 'Conflict'].includes(error.reason))) throw error;
    }
  }

  async function sweep(due: number, start: number, signal: AbortSignal): Promise<void> {
    for (let after = ''; !signal.aborted; ) {
      const page = storage.list(prefix, after, pageSize);
      await Promise.all(page.items.filter((stored) => isExpired(stored, due, start)).map(remove));
      after = page.items.at(-1)?.key ?? '';
      if (page.remaining === 0) return;
      await yieldToEventLoop();
    }
  }

  return {
    name: 'event-expiry',
    dependsOn: [],
    onFailure: 'restart',
    async run(signal, ready) {
      const start = storage.applied;
      const times: RevisionTime[] = [];
      ready();
      while (!signal.aborted) {
        times.push({ atMs: clock.monotonicMs(), revision: storage.applied });
        await sweep(takeDue(times, clock.monotonicMs() - ttlMs), start, signal).catch((error: unknown) => {
          log.warn(`old events could not be removed: ${describeError(error)}`);
        });
        await clock.sleep(Math.max(minPauseMs, ttlMs / sweepsInTtl), signal);
      }
    },
  };
}

/** The revision up to which everything was written before `limitMs`; removes the records that are older than that one. */
function takeDue(times: RevisionTime[], limitMs: number): number {
  const due = times.filter(({ atMs }) => atMs <= limitMs).length;
  times.splice(0, due - 1);
  return due === 0 ? 0 : (times[0]?.revision ?? 0);
}

/** By the times in the Event; times in the future are ignored. */
function isExpiredByOwnTimes({ metadata, series, ...event }: Event, now: number, ttlMs: number): boolean {
  const created = Date.parse(metadata?.creationTimestamp ?? '');
  if (!(created <= now)) return false;
  const times = [event.firstTimestamp, event.lastTimestamp, event.eventTime, series?.lastObservedTime];
  const past = times.map((time) => Date.parse(time ?? '')).filter((time) => time <= now);
  return Math.max(created, ...past) + ttlMs < now;
}
