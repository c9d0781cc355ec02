import type { Event } from '../../../api/index.ts';
import { eventKind } from '../../../api/index.ts';
import type { Clock, Logger, MetricsRegistry, Service } from '../../../base/index.ts';
import { Counter, createMetrics, withDeadline } from '../../../base/index.ts';
import type { EventPlace, EventWriter } from '../../../client/events/index.ts';
import { createEventRecorder as createRecorder } from '../../../client/events/index.ts';
import type { ApiCalls } from '../../../client/index.ts';
import { ifFound } from '../../../client/index.ts';
import type { EventRecorder } from './types.ts';

export interface EventRecorderOptions {
  nodeName: string;
  api: Pick<ApiCalls, 'create' | 'patch'>;
  dependsOn?: readonly string[];
  clock: Clock;
  log: Logger;
  metrics?: MetricsRegistry;
  /** How many events may be queued; default 1000. */
  maxQueued?: number;
}

/** The reference's name of the reporting component; tools look for it. */
const component = 'kubelet';
const requestTimeoutMs = 10_000;

/** The service `events`. It never fails because the API cannot be reached; what is queued when it stops is not written. */
export function createEventRecorder(options: EventRecorderOptions): Service & EventRecorder {
  const { nodeName, api, clock, log, maxQueued = 1000 } = options;
  const counter = eventCounter(options.metrics);
  const recorder = createRecorder({
    writer: writerTo(api, clock),
    host: nodeName,
    maxQueued,
    maxRemembered: 1024,
    concurrency: 1,
    clock,
    log,
    onOutcome: (result, count) => counter.inc({ result }, count),
  });
  return {
    name: 'events',
    dependsOn: options.dependsOn ?? [],
    onFailure: 'restart',
    record: (subject, happening) => recorder.record(component, subject, happening),
    async run(signal, ready) {
      ready();
      await recorder.run(signal);
    },
  };
}

function writerTo(api: EventRecorderOptions['api'], clock: Clock): EventWriter {
  const within = <T>(signal: AbortSignal, call: (signal: AbortSignal) => Promise<T>): Promise<T> =>
    withDeadline({ clock, timeoutMs: requestTimeoutMs, signal }, 'the control plane, sent an Event,', call);
  const patch = ({ namespace, name }: EventPlace, change: Partial<Event>, outer: AbortSignal) =>
    within(outer, (signal) => api.patch<Event>(eventKind, name, change, { namespace, signal, as: 'merge' }));
  return {
    async create(event, outer) {
      await within(outer, (signal) => api.create(eventKind, event, { signal }));
    },
    // a patch that changes nothing: a node may not read Events
    async read(place, signal) {
      return await ifFound(patch(place, {}, signal));
    },
    async countUp({ namespace, name, ...change }, signal) {
      await patch({ namespace, name }, change, signal);
    },
  };
}

function eventCounter(registry: MetricsRegistry = createMetrics()): Counter<'result'> {
  const counter = new Counter({
    name: 'nodeward_events_total',
    help: 'Events about this node and its pods, by what came of them: written, refused by the API, limited (too many about one object), dropped (too many waiting).',
    labelNames: ['result'],
    registers: [registry],
  });
  counter.inc({ result: 'written' }, 0);
  return counter;
}
