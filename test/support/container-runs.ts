/** How often each container of one pod has run, and what must not be, such as a restart count that is not the number of runs before. */
export class ContainerRuns {
  readonly complaints: string[] = [];
  readonly #ids = new Map<string, Set<string>>();

  /** A run has begun; telling of it again changes nothing. `id` is unlike that of any other run of the container. */
  began(name: string, id: string): void {
    const ids = this.#ids.get(name) ?? new Set();
    if (ids.has(id)) return;
    this.#ids.set(name, ids.add(id));
  }

  count(name: string): number {
    return this.#ids.get(name)?.size ?? 0;
  }

  /** What is said of the next run, or of the last one with `offset` 1. */
  expectRestartCount(name: string, restartCount: number, offset: 0 | 1 = 0): void {
    const runs = this.count(name) - offset;
    if (restartCount === runs) return;
    this.complain(`${name} has restart count ${restartCount}, and has run ${this.count(name)} times`);
  }

  complain(what: string): void {
    this.complaints.push(what);
  }
}
