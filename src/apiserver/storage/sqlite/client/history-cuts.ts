import type { Clock, Logger } from '../../../../base/index.ts';

export interface HistoryCutsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Of the store. */
  readonly file: string;
  /** The bound of history's size. */
  readonly limitBytes: number;
}

/** The configured and the actual length of history, milliseconds. */
export interface KeptHistory {
  readonly windowMs: number;
  readonly keptMs: number;
}

const minLogIntervalMs = 60_000;

/** Counts how often history was cut because it took too many bytes, and logs when it became too short thereby. */
export class HistoryCuts {
  readonly #options: HistoryCutsOptions;
  #count = 0;
  #nextLogMs = Number.NEGATIVE_INFINITY;

  constructor(options: HistoryCutsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#count;
  }

  /** `kept`: after the cut. Logs at most once a minute, since cuts continue for as long as so much is written. */
  add({ windowMs, keptMs }: KeptHistory): void {
    this.#count++;
    const { clock, log, file, limitBytes } = this.#options;
    const nowMs = clock.monotonicMs();
    if (keptMs >= windowMs || nowMs < this.#nextLogMs) return;
    this.#nextLogMs = nowMs + minLogIntervalMs;
    const why = `it takes more than ${limitBytes} bytes; --history-bytes sets that bound`;
    const [inUnits, unit] = windowMs < 10_000 ? [Math.round, 'ms'] : [wholeSeconds, 's'];
    const kept = `history of ${inUnits(keptMs)} ${unit} is kept instead of ${inUnits(windowMs)} ${unit}`;
    log.warn({ store: file, keptMs, windowMs }, `${kept}: ${why}`);
  }
}

function wholeSeconds(ms: number): number {
  return Math.round(ms / 1000);
}
