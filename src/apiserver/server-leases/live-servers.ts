import { isIP } from 'node:net';
import type { Lease } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import type { Registry } from '../registry/index.ts';
import { addressAnnotation, listServerLeases } from './names.ts';

/** A server that has not renewed its Lease for this time is down. */
export const downMs = 60_000;

/**
 * Which of the servers on a store are up, by their Leases. What counts is when this process has observed a Lease change, by a clock
 * that nobody sets: clocks of machines differ.
 */
export class LiveServers {
  readonly #registry: Registry;
  readonly #clock: Clock;
  readonly #observed = new Map<string, { readonly renewTime: string; readonly sinceMs: number }>();

  constructor(registry: Registry, clock: Clock) {
    this.#registry = registry;
    this.#clock = clock;
  }

  /** Where they are reached; a server whose Lease is new is up. */
  addresses(): { address: string; port: number }[] {
    const leases = listServerLeases(this.#registry);
    const names = new Set(leases.map(({ metadata }) => metadata?.name ?? ''));
    for (const name of this.#observed.keys()) if (!names.has(name)) this.#observed.delete(name);
    return leases.filter((lease) => this.#isUp(lease)).flatMap(addressOf);
  }

  #isUp({ metadata, spec }: Lease): boolean {
    const { name = '' } = metadata ?? {};
    const { renewTime = '' } = spec ?? {};
    const nowMs = this.#clock.monotonicMs();
    const before = this.#observed.get(name);
    if (before?.renewTime === renewTime) return nowMs - before.sinceMs <= downMs;
    this.#observed.set(name, { renewTime, sinceMs: nowMs });
    return true;
  }
}

function addressOf({ metadata }: Lease): { address: string; port: number }[] {
  const [address = '', text = ''] = (metadata?.annotations?.[addressAnnotation] ?? '').split(' ');
  const port = Number(text);
  const isPort = Number.isInteger(port) && port > 0 && port < 65_536;
  return isIP(address) !== 0 && isPort ? [{ address, port }] : [];
}
