import type { Fault } from '../types.ts';

type Match<T> = { readonly [Part in keyof T]?: unknown } | ((value: T) => boolean);

/** What every fault has: how often it hits (default always), and what (default everything). */
export interface FaultBounds<M> {
  times?: number | undefined;
  match?: M | undefined;
}

interface ActiveFault<Settings> {
  readonly settings: Settings;
  /** Aborts when the fault is cleared. */
  readonly cleared: AbortSignal;
}

/** The active faults for requests, or for writes, in the order in which they were set. */
export class FaultSet<T extends object, Settings extends FaultBounds<Match<T>>> {
  readonly #active = new Set<ActiveFault<Settings> & { hits: number; clear(): void }>();

  set(settings: Settings): Fault {
    const controller = new AbortController();
    const fault = {
      settings,
      cleared: controller.signal,
      hits: 0,
      clear: () => {
        this.#active.delete(fault);
        controller.abort();
      },
    };
    this.#active.add(fault);
    return {
      get hits() {
        return fault.hits;
      },
      clear: fault.clear,
      [Symbol.dispose]: fault.clear,
    };
  }

  /** Yields the faults that hit `value`; each hit is counted when it is yielded. */
  *hits(value: T): Generator<ActiveFault<Settings>> {
    for (const fault of [...this.#active]) {
      const { times = Number.POSITIVE_INFINITY, match } = fault.settings;
      if (fault.cleared.aborted || fault.hits >= times || !matches(match, value)) continue;
      fault.hits++;
      yield fault;
    }
  }

  clear(): void {
    for (const fault of [...this.#active]) fault.clear();
  }
}

/** Whether `value` has all the properties in `match`; without `match` always. */
export function matches<T extends object>(match: Match<T> | undefined, value: T): boolean {
  if (match === undefined) return true;
  if (typeof match === 'function') return match(value);
  const properties = new Map<string, unknown>(Object.entries(value));
  return Object.entries(match).every(([name, expected]) => matchesProperty(expected, properties.get(name)));
}

function matchesProperty(expected: unknown, found: unknown): boolean {
  if (expected === undefined) return true;
  return expected instanceof RegExp ? String(found).search(expected) >= 0 : expected === found;
}
