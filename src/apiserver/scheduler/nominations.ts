import type { PodFacts } from './cluster/pod-facts.ts';

const nobody: readonly PodFacts[] = [];

/** Pods that wait for others to leave a node (`status.nominatedNodeName`); room is kept for them there. */
export class Nominations {
  readonly #byNode = new Map<string, Map<string, PodFacts>>();
  readonly #nodeOf = new Map<string, string>();

  set(pod: PodFacts, node: string | undefined): void {
    const old = this.#nodeOf.get(pod.key);
    if (old !== undefined) {
      this.#nodeOf.delete(pod.key);
      const there = this.#byNode.get(old);
      there?.delete(pod.key);
      if (there?.size === 0) this.#byNode.delete(old);
    }
    if (node === undefined) return;
    this.#nodeOf.set(pod.key, node);
    this.#byNode.set(node, (this.#byNode.get(node) ?? new Map<string, PodFacts>()).set(pod.key, pod));
  }

  nodeOf({ key }: Pick<PodFacts, 'key'>): string | undefined {
    return this.#nodeOf.get(key);
  }

  /** Those on a node that are at least as important as a pod; never the pod itself. */
  on(node: string, { key, priority }: PodFacts): readonly PodFacts[] {
    if (!this.#byNode.has(node)) return nobody; // asked for every node and pod
    return this.#all(node).filter((other) => other.key !== key && other.priority >= priority);
  }

  /** Those on a node that are less important. */
  lessImportantOn(node: string, { priority }: PodFacts): readonly PodFacts[] {
    return this.#all(node).filter((other) => other.priority < priority);
  }

  #all(node: string): readonly PodFacts[] {
    const there = this.#byNode.get(node);
    return there === undefined ? [] : [...there.values()];
  }
}
