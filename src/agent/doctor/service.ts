import type { Clock, Logger, MetricsRegistry, Service } from '../../base/index.ts';
import { createWaker, Gauge } from '../../base/index.ts';
import type { EffectiveConfig } from '../config/index.ts';
import type { Finding as Condition } from '../node/index.ts';
import type { Runtime } from '../runtime/index.ts';
import { fastChecks } from './catalogue.ts';
import { checkpointCondition } from './condition.ts';
import type { Host } from './host.ts';
import { thisHost } from './host.ts';
import { lookHere } from './look.ts';
import { runChecks } from './run.ts';
import type { Row } from './types.ts';
import { verdicts } from './types.ts';

export interface HostChecksOptions {
  config(): Pick<EffectiveConfig, 'containerRuntimeEndpoint' | 'featureGates'>;
  runtime: Pick<Runtime, 'status' | 'onStatusChange'>;
  metrics: MetricsRegistry;
  clock: Clock;
  log: Logger;
  /** Default this machine, without running programs. */
  host?: Host;
}

export interface HostChecksService extends Service {
  /** What the Node says of checkpoints; none before the runtime has answered for the first time. */
  conditions(): readonly Condition[];
}

/** The agent itself comes first. */
const startDelayMs = 1000;
/** After a runtime that did not answer. */
const retryMs = 30_000;
/** Even a machine that is well is looked at again from time to time. */
const againMs = 3600_000;

/**
 * The service `host-checks`: makes the fast checks in the background, at the start, when the runtime has changed, and
 * every hour. What is not as it should be is logged once; each check is in the metric nodeward_host_check.
 */
export function hostChecksService(options: HostChecksOptions): HostChecksService {
  const { config, runtime, clock, log } = options;
  const host = options.host ?? quietHost(clock);
  const publish = createPublisher(options.metrics);
  const tell = createTeller(log);
  let condition: Condition | undefined;

  /** Answers when to look again. */
  async function round(signal: AbortSignal): Promise<number> {
    const rows = await runChecks(fastChecks(config(), host, signal), host, clock, signal);
    publish(rows);
    tell(rows);
    const next = checkpointCondition(rows);
    condition = next ?? condition;
    return next === undefined ? retryMs : againMs;
  }

  return {
    name: 'host-checks',
    dependsOn: ['lock'],
    onFailure: 'restart',
    conditions: () => (condition === undefined ? [] : [condition]),
    async run(signal, ready) {
      ready();
      const waker = createWaker(clock);
      let known = runtimeKey(runtime.status());
      using _watch = runtime.onStatusChange((status) => {
        if (runtimeKey(status) !== known) waker.wake();
        known = runtimeKey(status);
      });
      await clock.sleep(startDelayMs, signal);
      while (!signal.aborted) {
        await waker.sleep(await round(signal), signal);
      }
    },
  };
}

/** What of its state makes another answer likely. */
function runtimeKey({ ready, name, version, endpoint }: ReturnType<Runtime['status']>): string {
  return [ready, name, version, endpoint].join(' ');
}

/** Starts no processes: what could only be tried by one is judged by the version. */
function quietHost(clock: Clock): Host {
  return {
    ...thisHost({ env: {}, clock }),
    look: async (what) => lookHere(what),
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

/** Tells a check again only when its verdict has changed. */
function createTeller(log: Logger): (rows: readonly Row[]) => void {
  const told = new Map<string, Row['verdict']>();
  return (rows) => {
    for (const { id, title, verdict, found, needed, advice } of rows) {
      if (verdict === 'unknown' || told.get(id) === verdict) continue;
      const before = told.get(id);
      told.set(id, verdict);
      const facts = { check: id, found, needed, ...(advice === undefined ? {} : { advice }) };
      if (verdict === 'failed') log.error(facts, `this machine lacks what is needed: ${title}`);
      else if (verdict === 'warning') log.warn(facts, `this machine is not as it should be: ${title}`);
      else if (before === 'failed' || before === 'warning')
        log.info(facts, `this machine is well again: ${title}`);
    }
  };
}
