import type { Event } from '../../../api/index.ts';
import { eventKind, formatTime, StatusError } from '../../../api/index.ts';
import type { Clock, Logger, Registry, Service } from '../../../base/index.ts';
import {
  BoundedMap,
  Counter,
  createMetrics,
  createTokenBuckets,
  describeError,
} from '../../../base/index.ts';
import type { ApiCalls } from '../../../client/index.ts';
import type { Draft } from './draft.ts';
import { draftKey, eventOf, mergeDrafts, namespaceOf, shortened } from './draft.ts';
import type { EventRecorder } from './types.ts';

/*
 * Events are told beside the work, never in its way: whoever records does not wait. What happens again to the same
 * object counts up the Event that is there.
 *
 *     record ──(limits by object)──► waiting, merged by what it says ──► one writer ──► written: its name, to count up
 *
 * While the API cannot be reached what waits is kept, up to a bound; after that the oldest is dropped, for what is said
 * last is what counts.
 */

export interface EventRecorderOptions {
  nodeName: string;
  api: Pick<ApiCalls, 'create' | 'patch'>;
  dependsOn?: readonly string[];
  clock: Clock;
  log: Logger;
  metrics?: Registry;
  /** How many may wait; default 1000. */
  waitingLimit?: number;
}

/** About one object, as in the reference: so many may follow at once, and one more every five minutes. */
const eventRate = { burst: 25, refillMs: 300_000 };
const writtenLimit = 1024;
const requestTimeoutMs = 10_000;
/** As the reference waits for a server that takes no Events. */
const retryMs = 10_000;

/** The service `events`. It never fails because the API cannot be reached; what waits when it stops is not written. */
export function createEventRecorder(options: EventRecorderOptions): Service & EventRecorder {
  const { clock, log, api, nodeName, waitingLimit = 1000 } = options;
  const counted = countersOf(options.metrics);
  let waiting = new Map<string, Draft>();
  /** Names of Events that can be counted up, and how far they are. */
  const written = new BoundedMap<string, { name: string; count: number }>({ maxEntries: writtenLimit });
  const limits = createTokenBuckets({ ...eventRate, maxKeys: 1024 });
  let sequence = 0;
  let dropped = 0;
  let wake = Promise.withResolvers<void>();

  function dropOldest(): void {
    const over = waiting.size - waitingLimit;
    if (over <= 0) return;
    for (const key of waiting.keys().take(over)) waiting.delete(key);
    dropped += over;
    counted.inc({ result: 'dropped' }, over);
  }

  async function countUp(key: string, draft: Draft, signal: AbortSignal): Promise<boolean> {
    const known = written.get(key);
    if (known === undefined) return false;
    const count = known.count + draft.count;
    const change = { count, lastTimestamp: formatTime(draft.lastMs) };
    const place = { namespace: namespaceOf(draft.subject), signal, as: 'merge' } as const;
    try {
      await api.patch<Event>(eventKind, known.name, change, place);
      known.count = count;
      return true;
    } catch (error) {
      written.delete(key);
      if (error instanceof StatusError && error.reason === 'NotFound') return false; // it has expired
      throw error;
    }
  }

  async function create(key: string, draft: Draft, signal: AbortSignal): Promise<void> {
    sequence = (sequence + 1) % 1e6;
    const suffix = (BigInt(Math.floor(draft.firstMs)) * 1_000_000n + BigInt(sequence)).toString(16);
    const name = `${draft.subject.name}.${suffix}`;
    await api.create(eventKind, eventOf(name, nodeName, draft), { signal });
    written.set(key, { name, count: draft.count });
  }

  /** Whether the API takes Events. */
  async function write(key: string, draft: Draft, stop: AbortSignal): Promise<boolean> {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(requestTimeoutMs)]);
    try {
      if (!(await countUp(key, draft, signal))) await create(key, draft, signal);
      counted.inc({ result: 'written' });
      return true;
    } catch (error) {
      const { subject, happening } = draft;
      const fields = {
        object: `${subject.kind} ${subject.namespace}/${subject.name}`,
        event: happening.reason,
      };
      log.debug(fields, `no Event: ${describeError(error)}`);
      if (isFinal(error)) {
        counted.inc({ result: 'refused' });
        return true;
      }
      const newer = waiting.get(key);
      waiting.delete(key);
      // first again: it is the oldest
      waiting = new Map([[key, newer === undefined ? draft : mergeDrafts(draft, newer)], ...waiting]);
      dropOldest();
      return false;
    }
  }

  function tellDropped(): void {
    if (dropped > 0) log.warn({ dropped }, 'more Events than are kept waiting: the oldest have been dropped');
    dropped = 0;
  }

  return {
    name: 'events',
    dependsOn: options.dependsOn ?? [],
    onFailure: 'restart',
    record(subject, { type, reason, message }) {
      if (!limits.take(`${subject.kind} ${subject.uid}`, clock.monotonicMs())) {
        counted.inc({ result: 'limited' });
        return;
      }
      const happening = { type, reason, message: shortened(message) };
      const key = draftKey(subject, happening);
      const nowMs = clock.now();
      const draft = { subject, happening, count: 1, firstMs: nowMs, lastMs: nowMs };
      const known = waiting.get(key);
      waiting.set(key, known === undefined ? draft : mergeDrafts(known, draft));
      dropOldest();
      wake.resolve();
    },
    async run(signal, ready) {
      const stopped = () => wake.resolve();
      signal.addEventListener('abort', stopped, { once: true });
      ready();
      while (!signal.aborted) {
        const [next] = waiting;
        if (next === undefined) {
          tellDropped();
          await wake.promise;
          wake = Promise.withResolvers();
          continue;
        }
        const [key, draft] = next;
        waiting.delete(key);
        const taken = await write(key, draft, signal);
        if (!taken) await clock.sleep(retryMs, signal);
      }
    },
  };
}

/** Refused for what it is, such as one in a namespace that is going; to send it again would change nothing. */
function isFinal(error: unknown): boolean {
  return error instanceof StatusError && error.code < 500 && error.code !== 429 && error.code !== 401;
}

function countersOf(registry: Registry = createMetrics()): Counter<'result'> {
  const counter = new Counter({
    name: 'nodeward_events_total',
    help: 'Events about this node and its pods, by what came of them: written, refused by the API, limited (too many about one object), dropped (too many waiting).',
    labelNames: ['result'],
    registers: [registry],
  });
  counter.inc({ result: 'written' }, 0);
  return counter;
}
