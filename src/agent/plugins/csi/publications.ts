import type { Clock } from '../../../base/index.ts';
import type { CsiDriver, Publication } from './types.ts';

/** The state of each driver's publication in the API. */
export class Publications {
  readonly #clock: Clock;
  readonly #known = new Map<CsiDriver, Publication>();
  readonly #waiting = new Map<CsiDriver, () => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Pending for a driver that has not been tried yet. */
  of(driver: CsiDriver): Publication {
    return this.#known.get(driver) ?? { state: 'pending', sinceMs: this.#clock.now() };
  }

  set(driver: CsiDriver, state: Publication['state'], problem?: string): void {
    const before = this.#known.get(driver);
    const sinceMs = before?.state === state ? before.sinceMs : this.#clock.now();
    this.#known.set(driver, { state, sinceMs, ...(problem === undefined ? {} : { problem }) });
    this.#waiting.get(driver)?.();
  }

  /** Forgets all other drivers. */
  keep(drivers: readonly CsiDriver[]): void {
    const kept = new Set(drivers);
    for (const driver of this.#known.keys()) if (!kept.has(driver)) this.#known.delete(driver);
  }

  /** Resolves when the driver has been tried, after `withinMs`, or when `signal` aborts. */
  async waitForTry(driver: CsiDriver, withinMs: number, signal: AbortSignal): Promise<void> {
    if (this.#known.has(driver)) return;
    const end = new AbortController();
    this.#waiting.set(driver, () => end.abort());
    await this.#clock.sleep(withinMs, AbortSignal.any([end.signal, signal]));
    this.#waiting.delete(driver);
  }
}
