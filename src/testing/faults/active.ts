import type { Fault } from '../types.ts';
import { matches } from './match.ts';

/** What every fault can be told: how often it hits (default always), and what (default everything). */
export interface FaultBounds<Match> {
  times?: number | undefined;
  match?: Match | undefined;
}

/** A fault as it is in force. */
export interface Active<Settings> {
  readonly settings: Settings;
  /** Aborts when the fault was cleared. */
  readonly cleared: AbortSignal;
}

/** The faults of one sort, in the order in which they were set. */
export class ActiveFaults<
  Seen extends object,
  Settings extends FaultBounds<{ readonly [Part in keyof Seen]?: unknown } | ((seen: Seen) => boolean)>,
> {
  readonly #set = new Set<Active<Settings> & { hits: number; end(): void }>();

  set(settings: Settings): Fault {
    const end = new AbortController();
    const fault = {
      settings,
      cleared: end.signal,
      hits: 0,
      end: () => {
        this.#set.delete(fault);
        end.abort();
      },
    };
    this.#set.add(fault);
    return {
      get hits() {
        return fault.hits;
      },
      clear: fault.end,
      [Symbol.dispose]: fault.end,
    };
  }

  /** The faults that hit this, each counted as it is taken. */
  *hitting(seen: Seen): Generator<Active<Settings>> {
    for (const fault of [...this.#set]) {
      const { times = Number.POSITIVE_INFINITY, match } = fault.settings;
      if (fault.cleared.aborted || fault.hits >= times || !matches(match, seen)) continue;
      fault.hits++;
      yield fault;
    }
  }

  clear(): void {
    for (const fault of [...this.#set]) fault.end();
  }
}
