import type { Clock, Logger, Service } from '../../base/index.ts';
import { createWaker, describeError, Listeners } from '../../base/index.ts';
import type { DelayOptions } from './delay.ts';
import { reportSeconds, ShutdownDelay } from './delay.ts';
import type { GroupOptions } from './end-groups.ts';
import { endGroups } from './end-groups.ts';
import type { ShutdownPeriod } from './groups.ts';
import { totalSeconds } from './groups.ts';
import type { ShutdownTimes } from './shutdown-times.ts';

export interface NodeShutdownOptions
  extends GroupOptions,
    Pick<DelayOptions, 'follow' | 'createInhibitor' | 'raise'> {
  /** As they are configured now; read each time. All 0: a shutdown is neither followed nor delayed. */
  periods(): readonly ShutdownPeriod[];
  onPeriods(listener: () => void): Disposable;
  /** Whether the API has the end of each pod that has ended here. */
  isReported(): boolean;
  readonly times: Pick<ShutdownTimes, 'restore' | 'begin' | 'end'>;
  /** Has an Event of the Node written. */
  tell(message: string): void;
  readonly dependsOn?: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}

const lookEveryMs = 100;
/** The start of other parts waits so long at most until it is known whether the machine is shutting down. */
const firstLookMs = 2000;
const idleMs = 3600_000;

/**
 * Ends the pods before the machine ends: delays its shutdown by a lock of logind, hears from logind that it is due, ends the pods
 * in groups, and lets go of the lock. A shutdown that is given up leaves the groups alone whose turn had not come.
 */
export class NodeShutdown implements Service {
  readonly name = 'node-shutdown';
  readonly onFailure = 'restart';
  readonly dependsOn: readonly string[];
  readonly #options: NodeShutdownOptions;
  readonly #listeners: Listeners<readonly []>;
  readonly #delay: ShutdownDelay;
  /** Of the shutdown that is under way. */
  #ending: { readonly cancel: AbortController; readonly done: Promise<void> } | undefined;

  constructor(options: NodeShutdownOptions) {
    this.#options = options;
    this.dependsOn = options.dependsOn ?? [];
    this.#listeners = new Listeners('a shutdown of the machine', options.log);
    this.#delay = new ShutdownDelay({
      ...options,
      seconds: () => totalSeconds(options.periods()),
      onPrepares: (isShuttingDown) => (isShuttingDown ? this.#begin() : this.#giveUp()),
      onProblem: this.#listeners.notify,
    });
  }

  /** Whether the machine is about to end: no pod is taken any more, and the node is not Ready. */
  get isShuttingDown(): boolean {
    return this.#ending !== undefined;
  }

  /** Why a shutdown would not be delayed as it is configured, for the message of Ready. */
  readonly remarks = (): readonly string[] => {
    const { problem } = this.#delay;
    return problem === '' ? [] : [`a shutdown of the machine is not delayed as configured: ${problem}`];
  };

  /** Calls `listener` when one of these has changed. */
  readonly onChange = (listener: () => void): Disposable => this.#listeners.add(listener);

  readonly run: Service['run'] = async (signal, ready) => {
    const { clock, onPeriods, periods, times } = this.#options;
    await times.restore();
    const known = new AbortController();
    const first = clock.sleep(firstLookMs, AbortSignal.any([signal, known.signal])).then(ready);
    const waker = createWaker(clock);
    while (!signal.aborted) {
      const enough = new AbortController();
      using _periods = onPeriods(() => {
        waker.wake();
        if (totalSeconds(periods()) === 0) enough.abort();
        this.#delay.adjust();
      });
      if (totalSeconds(periods()) === 0) {
        known.abort();
        await waker.sleep(idleMs, signal);
      } else {
        await this.#delay.run(AbortSignal.any([signal, enough.signal]), () => known.abort());
        if (!signal.aborted) this.#giveUp();
      }
    }
    await first;
    this.#ending?.cancel.abort();
    await this.#ending?.done;
  };

  #begin(): void {
    if (this.#ending !== undefined) return;
    const cancel = new AbortController();
    const done = Promise.withResolvers<void>();
    this.#ending = { cancel, done: done.promise };
    this.#options.log.warn('the machine is about to shut down: the pods of this node end');
    this.#options.tell('Shutdown manager detected shutdown event');
    this.#listeners.notify();
    void this.#end(cancel.signal).finally(done.resolve);
  }

  #giveUp(): void {
    if (this.#ending === undefined) return;
    this.#ending.cancel.abort();
    this.#ending = undefined;
    this.#options.log.warn('the shutdown of the machine was given up: this node goes on');
    this.#options.tell('Shutdown manager detected shutdown cancellation');
    this.#listeners.notify();
  }

  /** Never rejects: whatever happens, the machine does not wait in vain. */
  async #end(signal: AbortSignal): Promise<void> {
    const { log, times } = this.#options;
    void times.begin();
    try {
      await this.#endPods(signal);
    } catch (error) {
      log.error(`the pods of this node cannot be ended: ${describeError(error)}`);
    }
    if (!signal.aborted) await times.end();
    if (signal.aborted) return;
    log.warn('the shutdown of the machine goes on');
    await this.#delay.release();
  }

  async #endPods(signal: AbortSignal): Promise<void> {
    const { clock, isReported, log, periods } = this.#options;
    const left = await endGroups(this.#options, periods(), signal);
    if (signal.aborted) return;
    if (left === 0) log.info('all pods have ended');
    else log.warn(`${left} pods have not ended in their time`);
    const endMs = clock.monotonicMs() + reportSeconds * 1000;
    while (!signal.aborted && !isReported() && clock.monotonicMs() < endMs)
      await clock.sleep(lookEveryMs, signal);
  }
}
