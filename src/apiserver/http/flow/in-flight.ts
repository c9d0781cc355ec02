import type { Verb } from '../../../api/index.ts';
import type { Clock, MetricsRegistry } from '../../../base/index.ts';
import { Counter, Gauge, Histogram } from '../../../base/index.ts';
import type { User } from '../../authn/index.ts';
import { mastersGroup } from '../../authn/index.ts';
import { nodeLeaseNamespace, nodeNameOf } from '../../authz/index.ts';
import type { Asker, SeatLimits, SeatWatcher } from './seats.ts';
import { Seats } from './seats.ts';

/** How many requests are worked on at once, of those that everybody sends. */
export interface InFlightLimits {
  /** Default 400, as the reference has it. */
  readonly reading?: number | undefined;
  /** Default 200. */
  readonly mutating?: number | undefined;
}

/** As the reference has them. */
export const defaultInFlight = { reading: 400, mutating: 200 };

/**
 * Each level has seats of its own, so that none is held up by what another does: administrators by nobody's flood, the
 * heartbeats of nodes neither by writers nor by administrators. Health, metrics and other documents need no seat, and a
 * watch has none while it is open (`WatchSeats`).
 */
const levels = ['masters', 'heartbeats', 'reading', 'mutating'] as const;
type Level = (typeof levels)[number];

const line = { waiting: 2_000, waitingEach: 500, waitingBytes: 32 * 1024 * 1024, waitMs: 5_000 };

function limitsOf({ reading, mutating }: InFlightLimits): Readonly<Record<Level, SeatLimits>> {
  return {
    masters: { ...line, seats: 400, waitingEach: line.waiting },
    heartbeats: { ...line, seats: 200, waiting: 10_000, waitingEach: 10 },
    reading: { ...line, seats: reading ?? defaultInFlight.reading },
    mutating: { ...line, seats: mutating ?? defaultInFlight.mutating },
  };
}

/** What of a request decides where it belongs. */
export interface Asked {
  readonly user: User;
  readonly verb: Verb;
  readonly resource: { readonly kind: { readonly group: string; readonly resource: string } };
  readonly subresource: string;
  readonly namespace: string;
}

/** Takes a seat, given back by disposing, for a request with its body; throws and rejects with 429. */
export type Enter = (
  asked: Asked,
  body: Pick<Asker, 'bytes' | 'response'>,
) => Disposable | Promise<Disposable>;

export interface InFlightOptions {
  readonly limits?: InFlightLimits | undefined;
  readonly clock: Clock;
  readonly metrics: MetricsRegistry;
}

/** The seats of a server, told in its metrics under the names that the reference has for them. */
export function inFlightLimiter({ limits = {}, clock, metrics }: InFlightOptions): Enter {
  const [each, watch] = [limitsOf(limits), watcherOf(metrics)];
  const make = (level: Level) => new Seats(each[level], clock, watch(level));
  const seats: Readonly<Record<Level, Seats>> = {
    masters: make('masters'),
    heartbeats: make('heartbeats'),
    reading: make('reading'),
    mutating: make('mutating'),
  };
  tellLevels(seats, metrics);
  return (asked, { bytes, response }) =>
    seats[levelOf(asked)].take({ user: asked.user.name, bytes, response });
}

function levelOf(asked: Asked): Level {
  const { user, verb } = asked;
  if (user.groups.includes(mastersGroup)) return 'masters';
  if (verb === 'get' || verb === 'list') return 'reading';
  return isHeartbeat(asked) ? 'heartbeats' : 'mutating';
}

/** What a node writes to stay ready: its Lease and the status of its Node. */
function isHeartbeat({ user, resource: { kind }, subresource, namespace }: Asked): boolean {
  if (nodeNameOf(user) === undefined) return false;
  if (kind.group === 'coordination') return kind.resource === 'leases' && namespace === nodeLeaseNamespace;
  return kind.group === '' && kind.resource === 'nodes' && subresource === 'status';
}

function watcherOf(metrics: MetricsRegistry): (level: Level) => SeatWatcher {
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
    waited: (ms, seated) => waited.observe({ priority_level: level, execute: String(seated) }, ms / 1000),
    refused: (reason) => refused.inc({ priority_level: level, reason }),
  });
}

function tellLevels(seats: Readonly<Record<Level, Seats>>, metrics: MetricsRegistry): void {
  const tell = (name: string, help: string, of: (seats: Seats) => number) =>
    new Gauge({
      name: `apiserver_flowcontrol_current_${name}_requests`,
      help,
      labelNames: ['priority_level'],
      registers: [metrics],
      collect() {
        for (const level of levels) this.set({ priority_level: level }, of(seats[level]));
      },
    });
  tell('executing', 'Requests that are worked on, without watches.', ({ busy }) => busy);
  tell('inqueue', 'Requests that wait for their turn.', ({ waiting }) => waiting);
}
