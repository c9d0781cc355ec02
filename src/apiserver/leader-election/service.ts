import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock, Logger, MetricsRegistry, Service } from '../../base/index.ts';
import { Gauge, runServices } from '../../base/index.ts';
import type { Registry } from '../registry/index.ts';
import type { CachedStore } from '../storage/index.ts';
import { Candidate } from './candidate.ts';
import type { LeadershipOptions } from './leadership.ts';
import { keepLeading, stepDown, untilElected } from './leadership.ts';

export interface LeaderElectionOptions {
  readonly registry: Registry;
  readonly storage: CachedStore;
  /** Run in the leader only; they start again with each term. */
  readonly services: readonly Service[];
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  readonly log: Logger;
  /** Of this process; default: the host name and a random UUID. */
  readonly identity?: string;
  /** How long other servers wait after the last renewal; default 10 s. */
  readonly leaseMs?: number;
  /** How long after its last renewal this process still acts; default 7 s, always less than `leaseMs`. */
  readonly trustMs?: number;
  /** Between two renewals or tries; default 2 s. */
  readonly retryMs?: number;
}

/** The Lease that the leader holds, as `kubectl -n kube-system get lease nodeward-controllers` shows it. */
export const leaderLease = { namespace: 'kube-system', name: 'nodeward-controllers' } as const;

/**
 * Runs services in one of several servers on one store: the leader, which holds a Lease. When the leader is killed,
 * another server takes over within `leaseMs` plus one retry; when it stops in order, at once. A leader that cannot renew
 * the Lease stops its services before another server may start them, and becomes a candidate again. All durations are
 * measured with this machine's monotonic clock; from other servers only the written `leaseDurationSeconds` is used.
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
  const report = (isLeader: boolean) => leads.set({ name: leaderLease.name }, isLeader ? 1 : 0);

  /** One term: the services run until `signal` aborts or the leadership is lost. */
  async function lead(leadership: LeadershipOptions, signal: AbortSignal): Promise<void> {
    const lost = new AbortController();
    const ended = new AbortController();
    log.info({ identity }, 'leading: the controllers run here');
    report(true);
    const keeping = keepLeading(leadership, ended.signal).then((why) => {
      if (why !== undefined) log.warn({ identity }, `leading no more: ${why}`);
      lost.abort();
    });
    try {
      await runServices({ services, log, clock }, AbortSignal.any([signal, lost.signal]));
    } finally {
      report(false);
      ended.abort();
      await keeping;
      await stepDown(leadership);
    }
  }

  return {
    name: 'controllers',
    dependsOn: ['storage'],
    onFailure: 'stop',
    async run(signal, ready) {
      using candidate = new Candidate({ registry, storage, clock, ...leaderLease, identity, leaseMs });
      const leadership = { candidate, identity, retryMs, trustMs, clock, log };
      report(false);
      ready();
      while (await untilElected(leadership, signal)) await lead(leadership, signal);
    },
  };
}
