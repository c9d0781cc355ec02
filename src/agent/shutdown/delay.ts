import type { Logger } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import type { Inhibitor, InhibitorOptions } from './inhibitor.ts';
import type { Logind, LogindListener, LogindState } from './logind.ts';

export interface DelayOptions {
  /** For how long a shutdown is to wait. */
  seconds(): number;
  /** Follows logind until the signal aborts; never rejects. */
  follow(listener: LogindListener, signal: AbortSignal): Promise<void>;
  createInhibitor(onChange: InhibitorOptions['onChange']): Pick<Inhibitor, 'acquire' | 'release'>;
  /** Has logind wait for so many seconds, and resolves with how many milliseconds it waits; rejects with what to do. */
  raise(logind: Logind, seconds: number, signal: AbortSignal): Promise<number>;
  /** Called for what logind announces, and with what is true when it is found. */
  onPrepares(isShuttingDown: boolean): void;
  /** Called when `problem` has changed. */
  onProblem(): void;
  readonly log: Logger;
}

/** Beyond the time of the pods: the end of those that ended at the last moment gets to the API. */
export const reportSeconds = 5;

/** Has logind delay a shutdown: holds its lock, and has it wait long enough. */
export class ShutdownDelay {
  readonly #options: DelayOptions;
  readonly #inhibitor: Pick<Inhibitor, 'acquire' | 'release'>;
  /** What stands in the way, by what it concerns, the gravest first. */
  readonly #problems = { logind: '', lock: '', time: '' };
  #logged = '';
  #found: { readonly logind: Logind; readonly state: LogindState } | undefined;
  #isShuttingDown = false;
  #raising: Promise<void> = Promise.resolve();
  #signal: AbortSignal = AbortSignal.abort();

  constructor(options: DelayOptions) {
    this.#options = options;
    this.#inhibitor = options.createInhibitor((change) => {
      // while the machine shuts down logind gives no lock, nor is one of use
      if (change.isHeld || !this.#isShuttingDown) this.#note('lock', change.isHeld ? '' : change.reason);
    });
  }

  /** Why a shutdown would not be delayed as it should be; empty: it would. */
  get problem(): string {
    const { logind, lock, time } = this.#problems;
    return logind || lock || time;
  }

  /** Keeps the delay until `signal` aborts; calls `onKnown` when it is known whether the machine shuts down, or cannot be. */
  async run(signal: AbortSignal, onKnown: () => void): Promise<void> {
    this.#signal = signal;
    const listener: LogindListener = {
      found: (logind, state) => {
        this.#found = { logind, state };
        this.#note('logind', '');
        this.#prepares(state.isShuttingDown);
        this.adjust();
        onKnown();
      },
      prepares: (isShuttingDown) => this.#prepares(isShuttingDown),
      lost: (reason) => {
        this.#found = undefined;
        this.#note('logind', reason);
        onKnown();
      },
    };
    await this.#options.follow(listener, signal);
    await Promise.all([this.#inhibitor.release(), this.#raising]);
    this.#found = undefined;
    for (const kind of ['logind', 'lock', 'time'] as const) this.#note(kind, '');
  }

  /** What is needed may have changed. */
  adjust(): void {
    this.#raising = this.#raising.then(() => this.#raise());
  }

  /** Lets the shutdown go on. */
  async release(): Promise<void> {
    await this.#inhibitor.release();
  }

  #prepares(isShuttingDown: boolean): void {
    this.#isShuttingDown = isShuttingDown;
    if (!isShuttingDown) this.#inhibitor.acquire();
    this.#options.onPrepares(isShuttingDown);
  }

  async #raise(): Promise<void> {
    const seconds = this.#options.seconds();
    const found = this.#found;
    if (found === undefined || seconds === 0 || this.#signal.aborted) return;
    if (found.state.maxDelayMs >= seconds * 1000) return this.#note('time', '');
    try {
      const maxDelayMs = await this.#options.raise(
        found.logind,
        Math.ceil(seconds) + reportSeconds,
        this.#signal,
      );
      if (this.#found === found) this.#found = { ...found, state: { ...found.state, maxDelayMs } };
      this.#options.log.info(
        `logind delays a shutdown for ${maxDelayMs / 1000} s at most, as it was asked to`,
      );
      this.#note('time', '');
    } catch (error) {
      if (!this.#signal.aborted) this.#note('time', describeError(error));
    }
  }

  #note(kind: 'logind' | 'lock' | 'time', problem: string): void {
    this.#problems[kind] = problem;
    const now = this.problem;
    if (now === this.#logged) return;
    const { log, onProblem } = this.#options;
    if (now !== '') log.warn(`a shutdown of the machine is not delayed as configured: ${now}`);
    else if (!this.#signal.aborted) log.info('a shutdown of the machine is delayed as configured again');
    this.#logged = now;
    onProblem();
  }
}
