import type { Item } from './answers.ts';
import { numberOf } from './answers.ts';

interface Periods {
  readonly all: number;
  readonly throttled: number;
}

/** Compares two looks: in how many of its periods between them a group had used up its CPU time. */
export class Throttling {
  readonly #before: ReadonlyMap<string, Periods>;
  readonly #now = new Map<string, Periods>();

  /** `before`: of the look before; default: there was none. */
  constructor(before?: Throttling) {
    this.#before = before === undefined ? new Map() : before.#now;
  }

  /** Whether a second look would give shares that this one has not. */
  get isFirst(): boolean {
    return this.#before.size === 0 && this.#now.size > 0;
  }

  /**
   * Notes what the agent says of a group, and returns the share; undefined without a CPU limit, at the first look, and for a
   * group that is another one than before.
   */
  share(key: string, counts: Item): number | undefined {
    const [all, throttled] = [numberOf(counts['periods']), numberOf(counts['throttledPeriods'])];
    if (all === undefined || throttled === undefined || all === 0) return undefined;
    this.#now.set(key, { all, throttled });
    const before = this.#before.get(key);
    if (before === undefined || all < before.all || throttled < before.throttled) return undefined;
    return all === before.all ? 0 : Math.min(1, (throttled - before.throttled) / (all - before.all));
  }
}
