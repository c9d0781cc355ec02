import type { Node } from '../../../api/index.ts';
import type { Settings } from './settings.ts';

/*
 * How fast nodes are given up. When many nodes fail at once, the cause is more likely one fault of the network than many
 * faults of nodes, and moving all their pods would make it worse. So each zone has a rate. It is lower in a large zone, and 0 in
 * a small one, while at least three nodes and most of the zone are not ready and some are ready. A zone without any ready
 * node has the full rate. When no node of any zone is ready, it is this server that cannot be reached, and no node is
 * given up.
 */

/** How many nodes of a zone are ready and not. */
export interface ZoneCount {
  ready: number;
  notReady: number;
}

type ZoneSettings = Pick<
  Settings,
  'evictionRate' | 'secondaryEvictionRate' | 'unhealthyZoneThreshold' | 'largeZoneSize' | 'monitorPeriodMs'
>;

interface Bucket {
  tokens: number;
  atMs: number;
  perSecond: number;
}

export function zoneOf({ metadata }: Node): string {
  const labels = metadata?.labels ?? {};
  return JSON.stringify([labels['topology.kubernetes.io/region'], labels['topology.kubernetes.io/zone']]);
}

/** Whether there are nodes and none of them is ready. */
export function isAllDown(zones: ReadonlyMap<string, ZoneCount>): boolean {
  return zones.size > 0 && [...zones.values()].every(({ ready }) => ready === 0);
}

/** Nodes that may be given up in a zone each second. */
export function computeRate({ ready, notReady }: ZoneCount, settings: ZoneSettings): number {
  const total = ready + notReady;
  const isDisrupted = ready > 0 && notReady > 2 && notReady / total >= settings.unhealthyZoneThreshold;
  if (!isDisrupted) return settings.evictionRate;
  return total > settings.largeZoneSize ? settings.secondaryEvictionRate : 0;
}

/** Limits, for each zone, how many nodes are given up: a token bucket each. */
export class EvictionPace {
  readonly #settings: ZoneSettings;
  readonly #buckets = new Map<string, Bucket>();

  constructor(settings: ZoneSettings) {
    this.#settings = settings;
  }

  /** To be called once in each period with the present state of the zones. */
  update(zones: ReadonlyMap<string, ZoneCount>, nowMs: number): void {
    for (const zone of this.#buckets.keys()) if (!zones.has(zone)) this.#buckets.delete(zone);
    for (const [zone, count] of zones) this.#refill(zone, computeRate(count, this.#settings), nowMs);
  }

  /** How many nodes of a zone may be given up now. */
  allowance(zone: string): number {
    const { tokens = 0, perSecond = 0 } = this.#buckets.get(zone) ?? {};
    return perSecond === 0 ? 0 : Math.floor(tokens);
  }

  /** Takes a token: one node of the zone has been given up. */
  take(zone: string): void {
    const bucket = this.#buckets.get(zone);
    if (bucket !== undefined) bucket.tokens -= 1;
  }

  #refill(zone: string, perSecond: number, nowMs: number): void {
    const before = this.#buckets.get(zone) ?? { tokens: 1, atMs: nowMs, perSecond };
    const seconds = (nowMs - before.atMs) / 1000;
    const maxTokens = Math.max(1, (perSecond * this.#settings.monitorPeriodMs) / 1000);
    const tokens = Math.min(maxTokens, before.tokens + seconds * before.perSecond);
    this.#buckets.set(zone, { tokens, atMs: nowMs, perSecond });
  }
}
