export interface RemovalTimes {
  /** For drivers that were registered with this agent, in milliseconds. */
  readonly lingerMs: number;
  /** For others, which an earlier agent left behind or another client has written, in milliseconds. */
  readonly graceMs: number;
}

/**
 * Delays the removal of drivers that are in the API and have no plugin here. A driver that restarts leaves and comes back
 * within a second, and right after the agent's own start no plugin has registered yet.
 */
export class RemovalDelays {
  readonly #times: RemovalTimes;
  readonly #everRegistered = new Set<string>();
  readonly #deadlines = new Map<string, number>();

  constructor(times: RemovalTimes) {
    this.#times = times;
  }

  /** Starts the delay of each name that has no plugin at this time, and ends that of all others. */
  update(names: Iterable<string>, registered: ReadonlySet<string>, nowMs: number): void {
    for (const name of registered) this.#everRegistered.add(name);
    const absent = new Set([...names].filter((name) => !registered.has(name)));
    for (const name of this.#deadlines.keys()) if (!absent.has(name)) this.#deadlines.delete(name);
    const { lingerMs, graceMs } = this.#times;
    for (const name of absent) {
      if (this.#deadlines.has(name)) continue;
      this.#deadlines.set(name, nowMs + (this.#everRegistered.has(name) ? lingerMs : graceMs));
    }
  }

  /** The names whose delay is over. */
  due(nowMs: number): ReadonlySet<string> {
    return new Set([...this.#deadlines].filter(([, endMs]) => endMs <= nowMs).map(([name]) => name));
  }

  /** Milliseconds until the next delay is over; Infinity when there is none. */
  nextMs(nowMs: number): number {
    return Math.max(0, Math.min(Infinity, ...[...this.#deadlines.values()].map((endMs) => endMs - nowMs)));
  }
}
