import type { Clock, Logger, MetricsRegistry, Service } from '../../base/index.ts';
import { createWaker, Gauge } from '../../base/index.ts';
import type { Finding as Condition } from '../node/index.ts';
import type { Runtime } from '../runtime/index.ts';
import type { FastCheckConfig } from './catalogue.ts';
import { createFastChecks } from './catalogue.ts';
import type { Host } from './host.ts';
import { createLocalHost } from './host.ts';
import { inspectPath } from './inspect-path.ts';
import { runChecks } from './run.ts';
import type { Row } from './types.ts';
import { verdicts } from './types.ts';

interface HostChecksOptions {
  config(): FastCheckConfig;
  runtime: Pick<Runtime, 'status' | 'onStatusChange'>;
  metrics: MetricsRegistry;
  clock: Clock;
  log: Logger;
  /** Default: this machine, without running programs. */
  host?: Host;
}

export interface HostChecksService extends Service {
  /** The Node condition about checkpoints; none before the runtime has answered for the first time. */
  conditions(): readonly Condition[];
}

/** The agent's own start comes first. */
const startDelayMs = 1000;
/** When the runtime did not answer. */
const retryMs = 30_000;
/** A machine can change without an event. */
const repeatMs = 3600_000;

/**
 * The service `host-checks`: runs the fast checks in the background, at the start, when the runtime has changed, and
 * every hour. A problem is logged once; each check is in the metric nodeward_host_check.
 */
export function createHostChecksService(options: HostChecksOptions): HostChecksService {
  const { config, runtime, clock, log } = options;
  const host = options.host ?? createHostWithoutPrograms(clock);
  const publish = createPublisher(options.metrics);
  const report = createReporter(log);
  let condition: Condition | undefined;

  /** Returns after how many milliseconds to run again. */
  async function runOnce(signal: AbortSignal): Promise<number> {
    const rows = await runChecks(createFastChecks(config(), host, signal), host, clock, signal);
    publish(rows);
    report(rows);
    const next = toCheckpointCondition(rows);
    condition = next ?? condition;
    return next === undefined ? retryMs : repeatMs;
  }

  return {
    name: 'host-checks',
    dependsOn: ['lock'],
    onFailure: 'restart',
    conditions: () => (condition === undefined ? [] : [condition]),
    async run(signal, ready) {
      ready();
      const waker = createWaker(clock);
      let known = composeRuntimeKey(runtime.status());
      using _watch = runtime.onStatusChange((status) => {
        if (composeRuntimeKey(status) !== known) waker.wake();
        known = composeRuntimeKey(status);
      });
      await clock.sleep(startDelayMs, signal);
      while (!signal.aborted) {
        await waker.sleep(await runOnce(signal), signal);
      }
    },
  };
}

/** Changes when the checks may have another result. */
function composeRuntimeKey({ ready, name, version, endpoint }: ReturnType<Runtime['status']>): string {
  return [ready, name, version, endpoint].join(' ');
}

/** Starts no processes: what only a program could try is judged by the kernel's version. */
function createHostWithoutPrograms(clock: Clock): Host {
  return {
    ...createLocalHost({ env: {}, clock }),
    inspectPath: async (what) => inspectPath(what),
    exec: async () => undefined,
  };
}

function createPublisher(metrics: MetricsRegistry): (rows: readonly Row[]) => void {
  const gauge = new Gauge({
    name: 'nodeward_host_check',
    help: 'What the last look at the machine found: 1 for the verdict of each check, 0 for the others.',
    labelNames: ['check', 'verdict'],
    registers: [metrics],
  });
  return (rows) => {
    for (const { id, verdict } of rows)
      for (const each of verdicts) gauge.set({ check: id, verdict: each }, each === verdict ? 1 : 0);
  };
}

/** Logs a check again only when its verdict has changed. */
function createReporter(log: Logger): (rows: readonly Row[]) => void {
  const reported = new Map<string, Row['verdict']>();
  return (rows) => {
    for (const { id, title, verdict, found, needed, advice } of rows) {
      if (verdict === 'unknown' || reported.get(id) === verdict) continue;
      const before = reported.get(id);
      reported.set(id, verdict);
      const facts = { check: id, found, needed, ...(advice === undefined ? {} : { advice }) };
      if (verdict === 'failed') log.error(facts, `this machine lacks what is needed: ${title}`);
      else if (verdict === 'warning') log.warn(facts, `this machine is not as it should be: ${title}`);
      else if (before === 'failed' || before === 'warning')
        log.info(facts, `this machine is well again: ${title}`);
    }
  };
}

const conditionType = 'CheckpointUnavailable';

/**
 * The Node has a condition for this finding alone: no other changes what the node can do for its users. True means a
 * problem, as with all conditions of the reference but Ready. Undefined while the runtime has not answered: the last
 * known condition stays.
 */
function toCheckpointCondition(rows: readonly Row[]): Condition | undefined {
  const row = rows.find(({ id }) => id === 'runtime-checkpoint');
  if (row === undefined || row.verdict === 'unknown') return undefined;
  if (row.verdict === 'ok')
    return {
      type: conditionType,
      status: 'False',
      reason: 'RuntimeCheckpoints',
      message: 'running containers can be checkpointed',
    };
  const reason = row.verdict === 'not-applicable' ? 'FeatureGateOff' : 'RuntimeCannotCheckpoint';
  const advice = row.advice === undefined ? '' : `; ${row.advice}`;
  return { type: conditionType, status: 'True', reason, message: `${row.found}${advice}`.slice(0, 1024) };
}
