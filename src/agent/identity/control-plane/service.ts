import { join } from 'node:path';
import type { Clock, ExitCode, Latest, Logger, Service } from '../../../base/index.ts';
import {
  createBackoff,
  createLatest,
  describeError,
  ExitError,
  exitCodes,
  untilAborted,
} from '../../../base/index.ts';
import type { ReadyMessage, SignMessage } from '../../../client/embedded/index.ts';
import type { Ending } from './child.ts';
import { Child } from './child.ts';
import { endLeftover, forgetProcess, recordProcess } from './leftover.ts';

export interface ControlPlaneOptions {
  /** The program to run as the child: the one that runs here. */
  script: string;
  /** Flags for `nodeward apiserver`. */
  args: readonly string[];
  rootDir: string;
  /** The lock that the agent holds; default none. */
  lockFile?: string;
  clock: Clock;
  log: Logger;
  dependsOn?: readonly string[];
  /** Between two pings; default 5 s. */
  pingMs?: number;
  /** How long the child may leave pings unanswered before it is killed; default 30 s. */
  silenceMs?: number;
  /** Between the request to stop and the kill; default 2.5 s. */
  stopMs?: number;
  /** How long one signature may take; default 30 s. */
  signMs?: number;
}

export interface ControlPlaneService extends Service {
  /** Where it serves; set when it first serves, and again after each restart. */
  readonly connection: Latest<ReadyMessage>;
  /** Has a certificate signed; rejects when that is refused or the control plane is not running. */
  sign(request: Omit<SignMessage, 'type' | 'id'>): Promise<string>;
}

const restartBackoff = { initialMs: 200, maxMs: 15_000, jitter: 0.2 };
const healthyMs = 30_000;

/**
 * The service `control-plane`: runs `nodeward apiserver` as a child and restarts it whenever it ends. Ready once it serves
 * for the first time. Only a failure that an operator has to correct, at the very first start, ends the agent.
 */
export function controlPlaneService(options: ControlPlaneOptions): ControlPlaneService {
  const { clock, log } = options;
  const connection = createLatest<ReadyMessage>();
  const recordFile = join(options.rootDir, 'control-plane.json');
  let child: Child | undefined;
  let hasServed = false;

  function start(onReady: () => void): Child {
    const started = new Child({
      script: options.script,
      args: options.args,
      clock,
      pingMs: options.pingMs ?? 5000,
      silenceMs: options.silenceMs ?? 30_000,
      stopMs: options.stopMs ?? 2500,
      signMs: options.signMs ?? 30_000,
      onReady(message) {
        const event = hasServed ? 'the control plane serves again' : 'the control plane serves';
        log.info({ url: message.url, pid: started.pid }, event);
        hasServed = true;
        connection.set(message);
        onReady();
      },
    });
    return started;
  }

  /** Runs one child until it ends; undefined when it ended because `signal` aborted. */
  async function runChild(signal: AbortSignal, ready: () => void): Promise<Ending | undefined> {
    let running: Child;
    try {
      running = start(ready);
    } catch (error) {
      return { exitCode: undefined, message: `it could not be started: ${describeError(error)}` };
    }
    child = running;
    try {
      if (running.pid !== undefined) await record(running.pid);
      return (await Promise.race([running.ended, untilAborted(signal)])) ?? undefined;
    } finally {
      child = undefined;
      await running.stop();
    }
  }

  /** The record is only a safeguard: a failure to write it is logged. */
  async function record(pid: number): Promise<void> {
    try {
      await recordProcess(recordFile, pid, options.lockFile);
    } catch (error) {
      log.warn({ pid }, `cannot note the control plane's process: ${describeError(error)}`);
    }
  }

  return {
    name: 'control-plane',
    dependsOn: options.dependsOn ?? [],
    onFailure: 'stop',
    connection,
    async sign(request) {
      if (child === undefined) throw new Error('the control plane is not running');
      return await child.sign(request);
    },
    async run(signal, ready) {
      const backoff = createBackoff(restartBackoff);
      await endLeftover(recordFile, clock, log, options.lockFile);
      while (!signal.aborted) {
        const startedMs = clock.monotonicMs();
        const ending = await runChild(signal, ready);
        if (ending === undefined) break;
        const exitCode = hasServed ? undefined : findOperatorExitCode(ending.exitCode);
        if (exitCode !== undefined)
          throw new ExitError(exitCode, `the control plane cannot start: ${ending.message}`);
        if (clock.monotonicMs() - startedMs > healthyMs) backoff.reset();
        const waitMs = backoff.next();
        log.error(
          { retryMs: Math.round(waitMs) },
          `the control plane ended, starting it again: ${ending.message}`,
        );
        await clock.sleep(waitMs, signal);
      }
      await forgetProcess(recordFile);
    },
  };
}

/** The exit code of a failure that no restart can correct; undefined for every other. */
function findOperatorExitCode(code: number | undefined): ExitCode | undefined {
  const { usage, configuration, locked, address, unwritable } = exitCodes;
  return [usage, configuration, locked, address, unwritable].find((known) => known === code);
}
