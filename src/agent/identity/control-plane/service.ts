import { join } from 'node:path';
import type { Clock, ExitCode, Logger, Service } from '../../../base/index.ts';
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

const restartBackoff = { initialMs: 200, maxMs: 15_000, jitter: 0.2 };
const healthyMs = 30_000;

/**
 * The service `control-plane`: runs `nodeward apiserver` as a child and restarts it whenever it ends. Ready once it serves
 * for the first time. Only a failure that an operator has to correct, at the very first start, ends the agent.
 */
export class ControlPlaneService implements Service {
  readonly name = 'control-plane';
  readonly dependsOn: readonly string[];
  readonly onFailure = 'stop';
  /** Where it serves; set when it first serves, and again after each restart. */
  readonly connection = createLatest<ReadyMessage>();
  readonly #options: ControlPlaneOptions;
  readonly #recordFile: string;
  #child: Child | undefined;
  #hasServed = false;

  constructor(options: ControlPlaneOptions) {
    this.#options = options;
    this.dependsOn = options.dependsOn ?? [];
    this.#recordFile = join(options.rootDir, 'control-plane.json');
  }

  /** Has a certificate signed; rejects when that is refused or the control plane is not running. */
  async sign(request: Omit<SignMessage, 'type' | 'id'>): Promise<string> {
    if (this.#child === undefined) throw new Error('the control plane is not running');
    return await this.#child.sign(request);
  }

  async run(signal: AbortSignal, ready: () => void): Promise<void> {
    const { clock, log, lockFile } = this.#options;
    const backoff = createBackoff(restartBackoff);
    await endLeftover(this.#recordFile, clock, log, lockFile);
    while (!signal.aborted) {
      const startedMs = clock.monotonicMs();
      const ending = await this.#runChild(signal, ready);
      if (ending === undefined) break;
      const exitCode = this.#hasServed ? undefined : findOperatorExitCode(ending.exitCode);
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
    await forgetProcess(this.#recordFile);
  }

  /** Runs one child until it ends; undefined when it ended because `signal` aborted. */
  async #runChild(signal: AbortSignal, ready: () => void): Promise<Ending | undefined> {
    let running: Child;
    try {
      running = this.#start(ready);
    } catch (error) {
      return { exitCode: undefined, message: `it could not be started: ${describeError(error)}` };
    }
    this.#child = running;
    try {
      if (running.pid !== undefined) await this.#record(running.pid);
      return (await Promise.race([running.ended, untilAborted(signal)])) ?? undefined;
    } finally {
      this.#child = undefined;
      await running.stop();
    }
  }

  #start(ready: () => void): Child {
    const { script, args, clock, log, pingMs, silenceMs, stopMs, signMs } = this.#options;
    const started = new Child({
      script,
      args,
      clock,
      pingMs: pingMs ?? 5000,
      silenceMs: silenceMs ?? 30_000,
      stopMs: stopMs ?? 2500,
      signMs: signMs ?? 30_000,
      onReady: (message) => {
        const event = this.#hasServed ? 'the control plane serves again' : 'the control plane serves';
        log.info({ url: message.url, pid: started.pid }, event);
        this.#hasServed = true;
        this.connection.set(message);
        ready();
      },
    });
    return started;
  }

  /** The record is only a safeguard: a failure to write it is logged. */
  async #record(pid: number): Promise<void> {
    const { log, lockFile } = this.#options;
    try {
      await recordProcess(this.#recordFile, pid, lockFile);
    } catch (error) {
      log.warn({ pid }, `cannot note the control plane's process: ${describeError(error)}`);
    }
  }
}

/** The exit code of a failure that no restart can correct; undefined for every other. */
function findOperatorExitCode(code: number | undefined): ExitCode | undefined {
  const { usage, configuration, locked, address, unwritable } = exitCodes;
  return [usage, configuration, locked, address, unwritable].find((known) => known === code);
}
