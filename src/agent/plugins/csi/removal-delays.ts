/**
 * Names that the API still tells of and no plugin here stands behind. They stay for a while: a driver that is started anew
 * leaves and comes back within a second, and after the agent's own start nobody has registered yet.
 */
export interface Departures {
  /** Notes which names are without a plugin at this time; those that have one again are forgotten. */
  note(names: Iterable<string>, wanted: ReadonlySet<string>, nowMs: number): void;
  /** Those whose time is up. */
  due(nowMs: number): ReadonlySet<string>;
  /** In how many milliseconds the next is due; Infinity where there is none. */
  nextMs(nowMs: number): number;
}

export interface DepartureTimes {
  /** For drivers that were registered with this agent, in milliseconds. */
  readonly lingerMs: number;
  /** For others, which an earlier agent has left behind, or somebody has written. */
  readonly graceMs: number;
}

export function createDepartures({ lingerMs, graceMs }: DepartureTimes): Departures {
  const known = new Set<string>();
  const until = new Map<string, number>();
  return {
    note(names, wanted, nowMs) {
      for (const name of wanted) known.add(name);
      const alone = new Set([...names].filter((name) => !wanted.has(name)));
      for (const name of until.keys()) if (!alone.has(name)) until.delete(name);
      for (const name of alone) {
        if (!until.has(name)) until.set(name, nowMs + (known.has(name) ? lingerMs : graceMs));
      }
    },
    due: (nowMs) => new Set([...until].filter(([, endMs]) => endMs <= nowMs).map(([name]) => name)),
    nextMs: (nowMs) => Math.max(0, Math.min(Infinity, ...[...until.values()].map((endMs) => endMs - nowMs))),
  };
}
