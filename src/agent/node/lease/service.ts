import { uptime } from 'node:os';
import type { Clock, Logger, MetricsRegistry, Service } from '../../../base/index.ts';
import { Counter, createBackoff, describeError, Gauge } from '../../../base/index.ts';
import type { OutageLog } from '../../../client/index.ts';
import { createOutageLog, retryAfterMs } from '../../../client/index.ts';
import type { TimeWatch, TroubleKind } from './lateness.ts';
import { createTimeWatch } from './lateness.ts';
import type { LeaseApi, Renewer } from './renewer.ts';
import { createRenewer } from './renewer.ts';
import { computeNextDue, renewalIntervalMs } from './schedule.ts';

export interface LeaseOptions {
  nodeName: string;
  /** The uid of the stored Node, which then owns the lease; undefined while it is not known. */
  nodeUid: () => string | undefined;
  /** With a connection that nothing else uses. */
  api: LeaseApi;
  clock: Clock;
  log: Logger;
  /** How long the lease is valid (nodeLeaseDurationSeconds); default 40. It is renewed every quarter of that. */
  durationSeconds?: number;
  /** Services that must be ready before; default none. */
  dependsOn?: readonly string[];
  metrics?: MetricsRegistry;
  /** A number in [0, 1); default Math.random. */
  random?: () => number;
  /** Milliseconds since the machine started, with the time it slept; default that of node:os. */
  uptimeMs?: () => number;
}

/** The state of the heartbeat, for self-diagnosis. */
export interface Heartbeat {
  /** When the lease was last renewed, wall clock in milliseconds since 1970; undefined before the first time. */
  readonly lastSuccess: number | undefined;
  /** The same by the monotonic clock. */
  readonly lastSuccessMonotonicMs: number | undefined;
  /** Failed tries since then. */
  readonly failures: number;
  /** Why the last of them failed; undefined when the last try succeeded. */
  readonly lastError: string | undefined;
  /** Heartbeats that came more than an interval late, since the start. */
  readonly lateCount: number;
  /** Why the last of those did. */
  readonly lastLateReason: string | undefined;
}

export interface LeaseService extends Service {
  heartbeat(): Heartbeat;
  /** What has delayed heartbeats lately, for people. */
  remarks(): readonly string[];
}

const firstRetryMs = 200;
const maxRetryMs = 7000;
/** The longest wait between retries, as a share of the interval: after an outage no retry waits for a whole interval. */
const retryShare = 0.7;

/**
 * The service `lease`: renews the node's lease every 10 s ± 4 % by the monotonic clock (specification, section 8).
 * The wall clock is used for nothing but renewTime. A failure is tried again after 200, 400 … 7000 ms, so that once the
 * server is reachable again no heartbeat is missing for longer than an interval. It never
 * fails because a peer cannot be reached.
 */
export function createLeaseService(options: LeaseOptions): LeaseService {
  const { clock, log, durationSeconds = 40, random = Math.random } = options;
  const intervalMs = renewalIntervalMs(durationSeconds);
  const renewer = createRenewer({ ...options, durationSeconds });
  const uptimeMs = options.uptimeMs ?? (() => uptime() * 1000);
  const onTrouble = createTroubleCounter(options.metrics);
  const time = createTimeWatch({ clock, log, intervalMs, uptimeMs, onTrouble });
  const record = createRecord(time, clock, options.metrics);
  return {
    name: 'lease',
    dependsOn: options.dependsOn ?? [],
    onFailure: 'restart',
    heartbeat: record.heartbeat,
    remarks: time.remarks,
    async run(signal, ready) {
      const outage = createOutageLog('renew the node’s lease', clock, log);
      let dueMs = clock.monotonicMs();
      ready();
      while (!signal.aborted) {
        await clock.sleep(Math.max(dueMs - clock.monotonicMs(), 0), signal);
        if (signal.aborted) return;
        time.woke(dueMs);
        await renewUntilDone(renewer, { clock, outage, record, intervalMs }, signal);
        dueMs = computeNextDue(dueMs, clock.monotonicMs(), intervalMs, random);
      }
    },
  };
}

interface Surroundings {
  clock: Clock;
  outage: OutageLog;
  record: HeartbeatRecord;
  intervalMs: number;
}

async function renewUntilDone(renewer: Renewer, around: Surroundings, signal: AbortSignal): Promise<void> {
  const { clock, outage, record, intervalMs } = around;
  const maxMs = Math.min(maxRetryMs, retryShare * intervalMs);
  const backoff = createBackoff({ initialMs: Math.min(firstRetryMs, maxMs), maxMs });
  while (!signal.aborted) {
    const startedMs = clock.monotonicMs();
    try {
      await renewer.renew(signal);
      record.succeeded(clock.monotonicMs() - startedMs);
      outage.succeeded();
      return;
    } catch (error) {
      if (signal.aborted) return;
      record.failed(error);
      outage.failed(error);
      const asked = Math.min(retryAfterMs(error), maxMs);
      // measured from the start of one attempt to that of the next: one that hung has waited already
      const waitMs = Math.max(backoff.next() - (clock.monotonicMs() - startedMs), firstRetryMs);
      await clock.sleep(Math.max(waitMs, asked), signal);
    }
  }
}

/** Keeps the figures that `heartbeat` and the metrics show. */
interface HeartbeatRecord {
  succeeded(requestMs: number): void;
  failed(error: unknown): void;
  heartbeat(): Heartbeat;
}

function createRecord(time: TimeWatch, clock: Clock, metrics: MetricsRegistry | undefined): HeartbeatRecord {
  const figures = metrics === undefined ? undefined : createFigures(metrics);
  let lastSuccess: number | undefined;
  let lastSuccessMonotonicMs: number | undefined;
  let failures = 0;
  let lastError: string | undefined;
  return {
    succeeded(requestMs) {
      time.succeeded(requestMs);
      lastSuccess = clock.now();
      lastSuccessMonotonicMs = clock.monotonicMs();
      failures = 0;
      lastError = undefined;
      figures?.renewals.inc({ result: 'success' });
      figures?.last.set(lastSuccess / 1000);
    },
    failed(error) {
      time.failed(error);
      failures += 1;
      lastError = describeError(error);
      figures?.renewals.inc({ result: 'failure' });
    },
    heartbeat: () => ({
      lastSuccess,
      lastSuccessMonotonicMs,
      failures,
      lastError,
      lateCount: time.late.count,
      lastLateReason: time.late.lastReason,
    }),
  };
}

const troubleNames: Readonly<Record<TroubleKind, string>> = {
  late: 'late',
  sleep: 'sleep',
  clockJump: 'clock_jump',
  slowServer: 'slow_server',
};

function createTroubleCounter(metrics: MetricsRegistry | undefined): (kind: TroubleKind) => void {
  if (metrics === undefined) return () => undefined;
  const counter = new Counter({
    name: 'nodeward_heartbeat_troubles_total',
    help: 'What stood in the way of heartbeats: late, sleep, clock_jump or slow_server.',
    labelNames: ['kind'],
    registers: [metrics],
  });
  return (kind) => counter.inc({ kind: troubleNames[kind] });
}

function createFigures(metrics: MetricsRegistry) {
  const registers = [metrics];
  return {
    renewals: new Counter({
      name: 'nodeward_lease_renewals_total',
      help: 'Tries to renew the lease of the node, by result.',
      labelNames: ['result'],
      registers,
    }),
    last: new Gauge({
      name: 'nodeward_lease_last_renewal_timestamp_seconds',
      help: 'When the lease of the node was last renewed, seconds since 1970.',
      registers,
    }),
  };
}
