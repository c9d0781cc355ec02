/** Missing nodes that are timed at once: anybody can make up names. The others have their turn later. */
const timedLimit = 1000;

/** How long nodes have been missing that pods are bound to. */
export class MissingNodes {
  /** Monotonic. */
  readonly #sinceMs = new Map<string, number>();

  /** How long a node has been missing that is missing now. */
  lastsMs(node: string, nowMs: number): number {
    const sinceMs = this.#sinceMs.get(node) ?? nowMs;
    if (this.#sinceMs.size < timedLimit) this.#sinceMs.set(node, sinceMs);
    return nowMs - sinceMs;
  }

  forget(node: string): void {
    this.#sinceMs.delete(node);
  }

  forgetAllBut(nodes: ReadonlySet<string>): void {
    for (const node of this.#sinceMs.keys()) if (!nodes.has(node)) this.#sinceMs.delete(node);
  }
}
