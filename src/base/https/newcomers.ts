import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';

/** How long a client may take for its handshake and first request before it is the first to give way. */
const graceMs = 1000;

/** A connection of which nobody has proven yet who they are. */
export interface Newcomer {
  readonly tcp: Socket;
  /** See `sourceOf`. */
  readonly source: string;
  /** When it was accepted, by the monotonic clock. */
  readonly sinceMs: number;
  /** Whether it is counted; only Newcomers changes it. */
  isNew: boolean;
  /** Unanswered requests. */
  readonly requests: number;
}

/**
 * The connections whose clients have not been authenticated, at most so many. A connection takes some 80 KiB, which is not
 * all given back when it ends: without a bound, a stranger decides how large the process is. When there are
 * too many, the source with the most of them gives way, so that a client elsewhere gets in however many come from one
 * place. What is cut there is the oldest connection without a request, once it has had the time to say something. Before
 * that it is the newest: where a whole fleet connects again, what has been begun is finished, and the rest tries again.
 */
export class Newcomers {
  readonly #max: number;
  readonly #clock: Clock;
  /** In the order of their arrival, by source. */
  readonly #bySource = new Map<string, Set<Newcomer>>();
  #count = 0;

  constructor(max: number, clock: Clock) {
    this.#max = max;
    this.#clock = clock;
  }

  add(newcomer: Newcomer): void {
    const others = this.#bySource.get(newcomer.source);
    if (others === undefined) this.#bySource.set(newcomer.source, new Set([newcomer]));
    else others.add(newcomer);
    this.#count += 1;
    if (this.#count > this.#max) this.#cutOne();
  }

  /** Its client has been authenticated, or it is closed. */
  delete(newcomer: Newcomer): void {
    if (!newcomer.isNew) return;
    newcomer.isNew = false;
    this.#count -= 1;
    const others = this.#bySource.get(newcomer.source);
    others?.delete(newcomer);
    if (others?.size === 0) this.#bySource.delete(newcomer.source);
  }

  #cutOne(): void {
    let most: ReadonlySet<Newcomer> = new Set();
    for (const set of this.#bySource.values()) if (set.size > most.size) most = set;
    const silent = most.values().filter(({ requests }) => requests === 0);
    const oldest = silent.next().value;
    const isLate = oldest !== undefined && this.#clock.monotonicMs() - oldest.sinceMs >= graceMs;
    const cut = isLate ? oldest : [...most].at(-1);
    if (cut === undefined) return;
    this.delete(cut);
    cut.tcp.destroy();
  }
}

/** Who counts as one client: an address of IPv4; of IPv6 the first 64 bits, as one machine may have all the rest. */
export function sourceOf(address = ''): string {
  const [embedded] = /\d+\.\d+\.\d+\.\d+$/.exec(address) ?? [];
  if (embedded !== undefined) return embedded;
  const [head = '', tail = ''] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}
