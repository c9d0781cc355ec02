import { isIP } from 'node:net';
import type { Lease } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import type { Registry } from '../registry/index.ts';
import { addressAnnotation, listServerLeases } from './names.ts';

/** A server that has not renewed its Lease for this time, while others renewed theirs, is down. */
export const downMs = 60_000;
/** When nobody has renewed a Lease for this time, the store is away, and says nothing of the servers. */
const awayMs = 30_000;

/**
 * Which of the servers on a store are up, by their Leases. What counts is how long this process has known others to renew theirs and
 * one not, by a clock that nobody sets: clocks of machines differ. To be asked every few seconds.
 */
export class LiveServers {
  readonly #registry: Registry;
  readonly #clock: Clock;
  readonly #known = new Map<string, { readonly renewTime: string; readonly silentMs: number }>();
  #askedMs: number;
  #renewedMs: number;

  constructor(registry: Registry, clock: Clock) {
    this.#registry = registry;
    this.#clock = clock;
    this.#askedMs = clock.monotonicMs();
    this.#renewedMs = this.#askedMs;
  }

  /** Where they are reached; a server whose Lease is new is up. */
  addresses(): { address: string; port: number }[] {
    const nowMs = this.#clock.monotonicMs();
    const leases = listServerLeases(this.#registry);
    if (leases.some((lease) => this.#hasRenewed(lease))) this.#renewedMs = nowMs;
    const isAway = nowMs - this.#renewedMs > awayMs;
    const passedMs = isAway ? 0 : nowMs - this.#askedMs;
    this.#askedMs = nowMs;
    const names = new Set(leases.map(({ metadata }) => metadata?.name ?? ''));
    for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name);
    return leases.filter((lease) => this.#isUp(lease, passedMs)).flatMap(addressOf);
  }

  #hasRenewed({ metadata, spec }: Lease): boolean {
    return this.#known.get(metadata?.name ?? '')?.renewTime !== (spec?.renewTime ?? '');
  }

  #isUp(lease: Lease, passedMs: number): boolean {
    const { name = '' } = lease.metadata ?? {};
    const { renewTime = '' } = lease.spec ?? {};
    const { silentMs: before = 0 } = this.#known.get(name) ?? {};
    const silentMs = this.#hasRenewed(lease) ? 0 : before + passedMs;
    this.#known.set(name, { renewTime, silentMs });
    return silentMs <= downMs;
  }
}

function addressOf({ metadata }: Lease): { address: string; port: number }[] {
  const [address = '', text = ''] = (metadata?.annotations?.[addressAnnotation] ?? '').split(' ');
  const port = Number(text);
  const isPort = Number.isInteger(port) && port > 0 && port < 65_536;
  return isIP(address) !== 0 && isPort ? [{ address, port }] : [];
}
