import type { Event } from '../../../api/index.ts';
import { eventKind, formatTime, StatusError } from '../../../api/index.ts';
import { BoundedMap, createTokenBuckets, describeError } from '../../../base/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import type { ControllerOptions } from '../controller.ts';

/*
 * Events are told beside the work, never in its way: whoever records does not wait, and what cannot be written in time
 * is dropped rather than kept for ever. What happens again to the same object counts up the Event that is there.
 *
 *     record ──(limits by object)──► pending, merged by what it says ──► 8 writers ──► written: its name, to count up
 */

/** What an Event is about. */
export interface Subject {
  kind: 'Node' | 'Pod';
  /** Empty for an object of the cluster; its Events stand in `default`. */
  namespace: string;
  name: string;
  uid: string;
}

export interface Happening {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

export interface EventRecorder {
  /** Takes note and returns at once. `component`: which controller tells, by the reference's name. */
  record(component: string, subject: Subject, happening: Happening): void;
  /** Writes until `signal` aborts; what is pending then is not written. */
  run(signal: AbortSignal): Promise<void>;
}

interface Draft {
  component: string;
  subject: Subject;
  happening: Happening;
  /** How often it happened since it was written last. */
  count: number;
  /** Wall clock. */
  firstMs: number;
  lastMs: number;
}

const context = { user: controlPlaneUser, dryRun: false };
/** A whole fleet that falls silent is told of; more than that is not worth its memory. */
const pendingLimit = 10_000;
/** About one object, as in the reference: so many may follow at once, and one more every five minutes. */
const eventRate = { burst: 25, refillMs: 300_000 };
const writtenLimit = 4096;
/** Enough to share the store's group commits. */
const atOnce = 8;
/** As the reference waits for a server that takes no Events. */
const retryMs = 10_000;

export function createEventRecorder(options: ControllerOptions): EventRecorder {
  const { registry, clock, log } = options;
  const events = registry.of(eventKind);
  const pending = new Map<string, Draft>();
  /** Names of Events that can be counted up. */
  const written = new BoundedMap<string, string>({ maxEntries: writtenLimit });
  const limits = createTokenBuckets({ ...eventRate, maxKeys: 4096 });
  let dropped = 0;
  let sequence = 0;
  let wake = Promise.withResolvers<void>();

  function keep(key: string, draft: Draft): void {
    const known = pending.get(key);
    if (known === undefined && pending.size >= pendingLimit) dropped += 1;
    else pending.set(key, known === undefined ? draft : merged(known, draft));
  }

  async function countUp(key: string, { subject, count, lastMs }: Draft): Promise<boolean> {
    const name = written.get(key);
    if (name === undefined) return false;
    const make = (event: Event): Event => ({
      ...event,
      count: (event.count ?? 1) + count,
      lastTimestamp: formatTime(lastMs),
    });
    try {
      const place = { namespace: namespaceOf(subject), name };
      await events.change(place, { make, operation: 'Update' }, '', context);
      return true;
    } catch (error) {
      if (error instanceof StatusError && error.reason === 'NotFound') return false;
      throw error;
    }
  }

  async function create(key: string, draft: Draft): Promise<void> {
    sequence = (sequence + 1) % 1e6;
    const name = `${draft.subject.name}.${(BigInt(draft.firstMs) * 1_000_000n + BigInt(sequence)).toString(16)}`;
    await events.create(namespaceOf(draft.subject), eventOf(name, draft), context);
    written.set(key, name);
  }

  /** Whether the store takes writes. */
  async function write([key, draft]: [string, Draft]): Promise<boolean> {
    try {
      if (!(await countUp(key, draft))) await create(key, draft);
      return true;
    } catch (error) {
      if (error instanceof StatusError && error.code < 500) {
        // such as a namespace that is going
        log.debug({ ...draft.subject, reason: draft.happening.reason }, `no Event: ${describeError(error)}`);
        return true;
      }
      keep(key, draft);
      return false;
    }
  }

  function next(): [string, Draft][] {
    const batch = [...pending.entries().take(atOnce)];
    for (const [key] of batch) pending.delete(key);
    return batch;
  }

  function tellDropped(): void {
    if (dropped > 0) log.warn({ dropped }, 'more Events than can be kept waiting: some are not written');
    dropped = 0;
  }

  return {
    record(component, subject, happening) {
      if (!limits.take(`${component} ${subject.kind} ${subject.uid}`, clock.monotonicMs())) return;
      const key = JSON.stringify([component, subject, happening]);
      const nowMs = clock.now();
      keep(key, { component, subject, happening, count: 1, firstMs: nowMs, lastMs: nowMs });
      wake.resolve();
    },
    async run(signal) {
      signal.addEventListener('abort', () => wake.resolve(), { once: true });
      while (!signal.aborted) {
        const results = await Promise.all(next().map(write));
        if (results.includes(false)) await clock.sleep(retryMs, signal);
        if (pending.size > 0) continue;
        tellDropped();
        await wake.promise;
        wake = Promise.withResolvers();
      }
    },
  };
}

function merged(one: Draft, other: Draft): Draft {
  return {
    ...one,
    count: one.count + other.count,
    firstMs: Math.min(one.firstMs, other.firstMs),
    lastMs: Math.max(one.lastMs, other.lastMs),
  };
}

function namespaceOf({ namespace }: Subject): string {
  return namespace === '' ? 'default' : namespace;
}

function eventOf(name: string, { component, subject, happening, count, firstMs, lastMs }: Draft): Event {
  const { namespace, ...cluster } = subject;
  return {
    metadata: { name, namespace: namespaceOf(subject) },
    involvedObject: { apiVersion: 'v1', ...(namespace === '' ? cluster : subject) },
    ...happening,
    source: { component },
    reportingComponent: component,
    firstTimestamp: formatTime(firstMs),
    lastTimestamp: formatTime(lastMs),
    count,
  };
}
