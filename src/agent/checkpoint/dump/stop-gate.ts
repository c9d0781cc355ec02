import type { Clock } from '../../../base/index.ts';
import type { CheckpointError, Target } from '../errors.ts';
import { createFailure } from '../errors.ts';

export interface StopRequest {
  readonly containerId: string;
  /** A stop waits no longer than its own grace lasts, so that it takes at most twice as long. */
  readonly graceSeconds: number;
  /** Called when it must wait. */
  onWait?(maxSeconds: number): void;
}

/** What the runtime does for one checkpoint with one container, from before it is frozen until it is proven to run again. */
export interface GatedDump extends Disposable {
  /** Aborts when a stop has waited long enough; the dump must end then. */
  readonly givenUp: AbortSignal;
}

interface Dump {
  readonly giveUp: AbortController;
  readonly ended: PromiseWithResolvers<void>;
  /** Monotonic. */
  stopAskedMs: number | undefined;
  givenUpMs: number | undefined;
  killedMs: number | undefined;
}

export interface StopGateOptions {
  readonly clock: Clock;
  /** Kills what dumps the container. Never rejects. */
  killDump(containerId: string): Promise<void>;
}

/** The longest time that a stop leaves to a dump that is under way. */
const maxWaitMs = 30_000;
/** So long a dump that is given up has to thaw its container: a frozen process cannot be stopped. */
const maxThawMs = 5000;
/** The same, when what dumps it was killed. */
const maxEndMs = 10_000;

/**
 * Keeps the dumps and the stops of one container apart: a stop waits a bounded time for the dump that is under way, then has it
 * given up, then killed; and none begins while a stop is under way.
 */
export class StopGate {
  readonly #options: StopGateOptions;
  /** By container id. */
  readonly #dumps = new Map<string, Dump>();
  /** By container id: how many stops are under way; a quicker one may take the place of another. */
  readonly #stops = new Map<string, number>();
  readonly #listeners = new Set<(containerId: string) => void>();

  constructor(options: StopGateOptions) {
    this.#options = options;
  }

  /** Throws a CheckpointError when the container is being stopped. One dump of a container at a time. */
  beginDump(containerId: string, target: Target): GatedDump {
    if (this.#stops.has(containerId)) throw createStoppedError(target);
    const dump: Dump = {
      giveUp: new AbortController(),
      ended: Promise.withResolvers<void>(),
      stopAskedMs: undefined,
      givenUpMs: undefined,
      killedMs: undefined,
    };
    this.#dumps.set(containerId, dump);
    for (const listener of [...this.#listeners]) listener(containerId);
    return {
      givenUp: dump.giveUp.signal,
      [Symbol.dispose]: () => {
        if (this.#dumps.get(containerId) === dump) this.#dumps.delete(containerId);
        dump.ended.resolve();
      },
    };
  }

  isDumping(containerId: string): boolean {
    return this.#dumps.has(containerId);
  }

  /** Calls `listener` before a container is frozen for its dump. */
  onDump(listener: (containerId: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Resolves when the container may be stopped; disposal of the result says that the stop has ended. */
  async beginStop(request: StopRequest, signal: AbortSignal): Promise<Disposable> {
    const { containerId } = request;
    this.#stops.set(containerId, (this.#stops.get(containerId) ?? 0) + 1);
    const stop = { [Symbol.dispose]: () => this.#endStop(containerId) };
    try {
      const dump = this.#dumps.get(containerId);
      if (dump !== undefined) await this.#waitFor(dump, request, signal);
      signal.throwIfAborted();
      return stop;
    } catch (error) {
      stop[Symbol.dispose]();
      throw error;
    }
  }

  #endStop(containerId: string): void {
    const left = (this.#stops.get(containerId) ?? 1) - 1;
    if (left > 0) this.#stops.set(containerId, left);
    else this.#stops.delete(containerId);
  }

  /** All stops of the container together wait no longer than one. */
  async #waitFor(dump: Dump, request: StopRequest, signal: AbortSignal): Promise<void> {
    const { containerId, graceSeconds, onWait } = request;
    const { clock, killDump } = this.#options;
    const nowMs = clock.monotonicMs();
    dump.stopAskedMs ??= nowMs;
    const untilMs = dump.stopAskedMs + Math.min(graceSeconds * 1000, maxWaitMs);
    if (untilMs > nowMs) onWait?.(Math.ceil((untilMs - nowMs) / 1000));
    if (await this.#endsBy(dump, untilMs, signal)) return;
    dump.giveUp.abort();
    dump.givenUpMs ??= clock.monotonicMs();
    if (await this.#endsBy(dump, dump.givenUpMs + maxThawMs, signal)) return;
    if (dump.killedMs === undefined) {
      dump.killedMs = clock.monotonicMs();
      await killDump(containerId);
    }
    await this.#endsBy(dump, dump.killedMs + maxEndMs, signal);
  }

  /** `untilMs` is monotonic. Rejects with the reason of `signal` when that aborts. */
  async #endsBy(dump: Dump, untilMs: number, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    const waitMs = untilMs - clock.monotonicMs();
    if (waitMs <= 0) return false;
    const settled = new AbortController();
    const isEnded = await Promise.race([
      dump.ended.promise.then(() => true),
      clock.sleep(waitMs, AbortSignal.any([signal, settled.signal])).then(() => false),
    ]);
    settled.abort();
    signal.throwIfAborted();
    return isEnded;
  }
}

/** Of a checkpoint that was not begun, or given up, because its container is being stopped. */
export function createStoppedError(target: Target, cause?: unknown): CheckpointError {
  return createFailure('notRunning', target, 'it is being stopped', cause);
}
