import type { Verb } from '../../../api/index.ts';
import type { Clock, MetricsRegistry } from '../../../base/index.ts';
import { Counter, Gauge, Histogram } from '../../../base/index.ts';
import type { User } from '../../authn/index.ts';
import { mastersGroup } from '../../authn/index.ts';
import { nodeLeaseNamespace, nodeNameOf } from '../../authz/index.ts';
import type { SlotLimits, SlotObserver, SlotRequest } from './fair-semaphore.ts';
import { FairSemaphore } from './fair-semaphore.ts';

/** How many requests of ordinary users run at once. */
export interface InFlightLimits {
  /** Default 400, as in the reference. */
  readonly reading?: number | undefined;
  /** Default 200. */
  readonly mutating?: number | undefined;
}

/** The defaults of the reference. */
export const defaultInFlight = { reading: 400, mutating: 200 };

/**
 * Each level has slots of its own, so that no level delays another: a flood of requests does not delay administrators, and
 * neither writers nor administrators delay the heartbeats of nodes. Health, metrics and other documents need no slot, and a
 * watch holds none while it is open (`WatchSlots`).
 */
const levels = ['masters', 'heartbeats', 'reading', 'mutating'] as const;
type Level = (typeof levels)[number];

const queueLimits = {
  maxWaiting: 2_000,
  maxWaitingPerUser: 500,
  maxWaitingBytes: 32 * 1024 * 1024,
  maxWaitMs: 5_000,
};

function limitsOf({ reading, mutating }: InFlightLimits): Readonly<Record<Level, SlotLimits>> {
  return {
    masters: { ...queueLimits, slots: 400, maxWaitingPerUser: queueLimits.maxWaiting },
    heartbeats: { ...queueLimits, slots: 200, maxWaiting: 10_000, maxWaitingPerUser: 10 },
    reading: { ...queueLimits, slots: reading ?? defaultInFlight.reading },
    mutating: { ...queueLimits, slots: mutating ?? defaultInFlight.mutating },
  };
}

/** The parts of a request that decide its level. */
export interface Asked {
  readonly user: User;
  readonly verb: Verb;
  readonly resource: { readonly kind: { readonly group: string; readonly resource: string } };
  readonly subresource: string;
  readonly namespace: string;
}

/** Takes a slot, released by disposing, for a request with its body; throws and rejects with 429. */
export type Enter = (
  asked: Asked,
  body: Pick<SlotRequest, 'bytes' | 'response'>,
) => Disposable | Promise<Disposable>;

export interface InFlightOptions {
  readonly limits?: InFlightLimits | undefined;
  readonly clock: Clock;
  readonly metrics: MetricsRegistry;
}

/** Creates the in-flight limits of a server and registers their metrics under the reference's names. */
export function createInFlightLimiter({ limits = {}, clock, metrics }: InFlightOptions): Enter {
  const [byLevel, observe] = [limitsOf(limits), createObservers(metrics)];
  const make = (level: Level) => new FairSemaphore(byLevel[level], clock, observe(level));
  const semaphores: Readonly<Record<Level, FairSemaphore>> = {
    masters: make('masters'),
    heartbeats: make('heartbeats'),
    reading: make('reading'),
    mutating: make('mutating'),
  };
  registerLevelGauges(semaphores, metrics);
  return (asked, { bytes, response }) =>
    semaphores[levelOf(asked)].take({ user: asked.user.name, bytes, response });
}

function levelOf(asked: Asked): Level {
  const { user, verb } = asked;
  if (user.groups.includes(mastersGroup)) return 'masters';
  if (verb === 'get' || verb === 'list') return 'reading';
  return isHeartbeat(asked) ? 'heartbeats' : 'mutating';
}

/** Whether it is a write by which a node stays ready: of its Lease, or of the status of its Node. */
function isHeartbeat({ user, resource: { kind }, subresource, namespace }: Asked): boolean {
  if (nodeNameOf(user) === undefined) return false;
  if (kind.group === 'coordination') return kind.resource === 'leases' && namespace === nodeLeaseNamespace;
  return kind.group === '' && kind.resource === 'nodes' && subresource === 'status';
}

function createObservers(metrics: MetricsRegistry): (level: Level) => SlotObserver {
  const waited = new Histogram({
    name: 'apiserver_flowcontrol_request_wait_duration_seconds',
    help: 'Time that requests waited for their turn, of those that could not begin at once.',
    labelNames: ['priority_level', 'execute'],
    buckets: [0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10],
    registers: [metrics],
  });
  const refused = new Counter({
    name: 'apiserver_flowcontrol_rejected_requests_total',
    help: 'Requests answered 429 because too many were waiting, because they had waited too long, or given up by their clients.',
    labelNames: ['priority_level', 'reason'],
    registers: [metrics],
  });
  return (level) => ({
    waited: (ms, gotSlot) => waited.observe({ priority_level: level, execute: String(gotSlot) }, ms / 1000),
    refused: (reason) => refused.inc({ priority_level: level, reason }),
  });
}

function registerLevelGauges(
  semaphores: Readonly<Record<Level, FairSemaphore>>,
  metrics: MetricsRegistry,
): void {
  const register = (name: string, help: string, of: (semaphore: FairSemaphore) => number) =>
    new Gauge({
      name: `apiserver_flowcontrol_current_${name}_requests`,
      help,
      labelNames: ['priority_level'],
      registers: [metrics],
      collect() {
        for (const level of levels) this.set({ priority_level: level }, of(semaphores[level]));
      },
    });
  register('executing', 'Requests that are worked on, without watches.', ({ busy }) => busy);
  register('inqueue', 'Requests that wait for their turn.', ({ waiting }) => waiting);
}
