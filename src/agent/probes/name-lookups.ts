import type { LookupAddress } from 'node:dns';
import dns from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import type { Clock } from '../../base/index.ts';
import { BoundedMap, Semaphore, SingleFlight, systemClock } from '../../base/index.ts';

/** So long an answer is kept, and a failure too: what changes is noticed soon. */
const keptMs = 5000;
const maxKept = 256;
/** Requests that wait for a name. What they wait for cannot be ended, so those count that have long been given up. */
const maxWaiting = 128;
/** Of two: libuv gives lookups half its threads. */
const lookupsAtOnce = 1;

/** As systemd-resolved, without asking anybody. */
const ofLocalhost: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

interface Kept {
  /** Settled. */
  readonly answer: Promise<readonly LookupAddress[]>;
  readonly atMs: number;
}

/**
 * Finds the addresses of hosts that pods name. The system's lookup is called, which knows /etc/hosts and whatever else the node has; it
 * occupies a thread of this process until the name server answers or is given up, and cannot be ended before. So that the agent's own
 * lookups never wait behind those of pods, one name is asked for at a time, and few may wait.
 */
export class NameLookups {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #slots = new Semaphore(() => lookupsAtOnce);
  readonly #flights = new SingleFlight<readonly LookupAddress[]>();
  readonly #kept = new BoundedMap<string, Kept>({ maxEntries: maxKept });
  #waiting = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** For sockets. */
  readonly lookup: LookupFunction = (host, { all = false }, callback) => {
    this.find(host).then(
      (addresses) => {
        const [first] = addresses;
        if (all) callback(null, [...addresses]);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), ''),
    );
  };

  /** Whether the host is being looked up, or waits for that. */
  isUnderWay(host: string): boolean {
    return this.#flights.get(host) !== undefined;
  }

  /** Never empty. Rejects with an error that has a code: ETIMEOUT where too many wait, or the system's. */
  async find(host: string): Promise<readonly LookupAddress[]> {
    const family = isIP(host);
    if (family !== 0) return [{ address: host, family }];
    if (host.toLowerCase() === 'localhost') return ofLocalhost;
    const kept = this.#kept.get(host);
    if (kept !== undefined && this.#clock.monotonicMs() - kept.atMs < keptMs) return await kept.answer;
    if (this.#waiting >= maxWaiting) throw faultOf(host, dns.TIMEOUT);
    this.#waiting += 1;
    try {
      return await this.#flights.run(host, () => this.#ask(host));
    } finally {
      this.#waiting -= 1;
    }
  }

  async #ask(host: string): Promise<readonly LookupAddress[]> {
    using _slot = await this.#slots.acquire();
    const answer = lookupAll(host);
    try {
      return await answer;
    } finally {
      this.#kept.set(host, { answer, atMs: this.#clock.monotonicMs() });
    }
  }
}

function lookupAll(host: string): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => {
    dns.lookup(host, { all: true }, (error, addresses) => {
      if (error !== null) reject(error);
      else if (addresses.length === 0) reject(faultOf(host, dns.NOTFOUND));
      else resolve(addresses);
    });
  });
}

const faultOf = (host: string, code: string) => Object.assign(new Error(`lookup ${host}: ${code}`), { code });

/** Of this process: its threads are shared by all that pods make it look up. */
export const podLookups = new NameLookups(systemClock);
