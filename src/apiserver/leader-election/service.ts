import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock, Logger, MetricsRegistry, Service } from '../../base/index.ts';
import { Gauge, runServices } from '../../base/index.ts';
import type { Registry } from '../registry/index.ts';
import type { CachedStore } from '../storage/index.ts';
import type { LeadingOptions } from './leading.ts';
import { keepLeading, stepDown, untilElected } from './leading.ts';
import { Seat } from './seat.ts';

export interface LeaderElectionOptions {
  readonly registry: Registry;
  readonly storage: CachedStore;
  /** What runs in one server only. They begin anew with every term. */
  readonly services: readonly Service[];
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  readonly log: Logger;
  /** Who this process is; default the host's name and something random. */
  readonly identity?: string;
  /** How long others wait after the last renewal; default 10 s. */
  readonly leaseMs?: number;
  /** How long after its last renewal this process still acts; default 7 s, always less than `leaseMs`. */
  readonly trustMs?: number;
  /** Between two renewals or tries; default 2 s. */
  readonly retryMs?: number;
}

/** The Lease that the leader holds, as `kubectl -n kube-system get lease nodeward-controllers` shows it. */
export const leaderLease = { namespace: 'kube-system', name: 'nodeward-controllers' } as const;

/**
 * Runs services in one of several servers on one store: in the one that holds a Lease. Killed, it is followed within 10 s
 * and a try; stopped in order, at once. One that cannot renew stops its services before another may begin, and tries to
 * be elected again. Times are monotonic and of this machine; only what was written is believed of other clocks.
 */
export function leaderElection(options: LeaderElectionOptions): Service {
  const { registry, storage, services, metrics, clock, log } = options;
  const { identity = `${hostname()}_${randomUUID()}`, leaseMs = 10_000 } = options;
  const { trustMs = 7000, retryMs = 2000 } = options;
  const leads = new Gauge({
    name: 'leader_election_master_status',
    help: 'Whether this server runs the controllers (1) or another does (0).',
    labelNames: ['name'],
    registers: [metrics],
  });
  const tell = (isLeader: boolean) => leads.set({ name: leaderLease.name }, isLeader ? 1 : 0);

  /** One term: the services run until `signal` aborts or the seat is lost. */
  async function lead(parts: LeadingOptions, signal: AbortSignal): Promise<void> {
    const lost = new AbortController();
    const ended = new AbortController();
    log.info({ identity }, 'leading: the controllers run here');
    tell(true);
    const keeping = keepLeading(parts, ended.signal).then((why) => {
      if (why !== undefined) log.warn({ identity }, `leading no more: ${why}`);
      lost.abort();
    });
    try {
      await runServices({ services, log, clock }, AbortSignal.any([signal, lost.signal]));
    } finally {
      tell(false);
      ended.abort();
      await keeping;
      await stepDown(parts);
    }
  }

  return {
    name: 'controllers',
    dependsOn: ['storage'],
    onFailure: 'stop',
    async run(signal, ready) {
      using seat = new Seat({ registry, storage, clock, ...leaderLease, identity, leaseMs });
      const parts = { seat, identity, retryMs, trustMs, clock, log };
      tell(false);
      ready();
      while (await untilElected(parts, signal)) await lead(parts, signal);
    },
  };
}
