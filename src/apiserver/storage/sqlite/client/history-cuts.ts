import type { Clock, Logger } from '../../../../base/index.ts';

export interface HistoryCutsOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Of the store. */
  readonly file: string;
  /** What history may take. */
  readonly limitBytes: number;
}

/** How long history is to be kept and how long it is, milliseconds. */
export interface KeptHistory {
  readonly windowMs: number;
  readonly keptMs: number;
}

const tellEveryMs = 60_000;

/** How often history was cut because it took too many bytes; the log is told when it thereby became too short. */
export class HistoryCuts {
  readonly #options: HistoryCutsOptions;
  #count = 0;
  #tellAt = Number.NEGATIVE_INFINITY;

  constructor(options: HistoryCutsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#count;
  }

  /** With what is kept after the cut. Told once a minute at most, since it goes on for as long as so much is written. */
  add({ windowMs, keptMs }: KeptHistory): void {
    this.#count++;
    const { clock, log, file, limitBytes } = this.#options;
    const nowMs = clock.monotonicMs();
    if (keptMs >= windowMs || nowMs < this.#tellAt) return;
    this.#tellAt = nowMs + tellEveryMs;
    const why = `it takes more than ${limitBytes} bytes; --history-bytes sets that bound`;
    const [inUnits, unit] = windowMs < 10_000 ? [Math.round, 'ms'] : [wholeSeconds, 's'];
    const kept = `history of ${inUnits(keptMs)} ${unit} is kept instead of ${inUnits(windowMs)} ${unit}`;
    log.warn({ store: file, keptMs, windowMs }, `${kept}: ${why}`);
  }
}

function wholeSeconds(ms: number): number {
  return Math.round(ms / 1000);
}
