import type { Node, SelectableNode, Taint } from '../../../api/index.ts';
import { unitsOf } from '../../../api/index.ts';
import type { Load, PodFacts } from './pod-facts.ts';

/** What counts of a node itself for which pods run on it. */
export interface NodeFacts extends SelectableNode {
  readonly taints: readonly Taint[];
  readonly isUnschedulable: boolean;
  /** Whole units by resource. */
  readonly allocatable: ReadonlyMap<string, number>;
  /** Bytes by name of the image. */
  readonly images: ReadonlyMap<string, number>;
}

export function readNode({ metadata, spec, status }: Node): NodeFacts {
  const images = status?.images ?? [];
  const allocatable = status?.allocatable ?? status?.capacity;
  return {
    name: metadata?.name ?? '',
    labels: metadata?.labels ?? {},
    taints: spec?.taints ?? [],
    isUnschedulable: spec?.unschedulable === true,
    allocatable: new Map([...unitsOf(allocatable)].map(([name, amount]) => [name, Number(amount)])),
    images: new Map(
      images.flatMap(({ names = [], sizeBytes = 0 }) => names.map((name) => [name, Number(sizeBytes)])),
    ),
  };
}

/** A node with its pods, and what they take of it. */
export class NodeState {
  readonly facts: NodeFacts;
  readonly #pods = new Map<string, PodFacts>();
  readonly #requested = new Map<string, number>();
  #scored: Load = { cpu: 0, memory: 0 };

  constructor(facts: NodeFacts, pods: Iterable<PodFacts> = []) {
    this.facts = facts;
    for (const pod of pods) this.add(pod);
  }

  get name(): string {
    return this.facts.name;
  }

  /** By key. */
  get pods(): ReadonlyMap<string, PodFacts> {
    return this.#pods;
  }

  /** What scores count of its pods. */
  get scored(): Load {
    return this.#scored;
  }

  /** Of all its pods, in whole units. */
  requested(resource: string): number {
    return this.#requested.get(resource) ?? 0;
  }

  /** In place of one with the same key. */
  add(pod: PodFacts): void {
    this.remove(pod.key);
    this.#pods.set(pod.key, pod);
    this.#count(pod, 1);
  }

  /** Does nothing when it is not there. */
  remove(key: string): void {
    const pod = this.#pods.get(key);
    if (pod === undefined) return;
    this.#pods.delete(key);
    this.#count(pod, -1);
  }

  #count({ requests, scored }: PodFacts, sign: 1 | -1): void {
    for (const [name, amount] of requests) {
      this.#requested.set(name, (this.#requested.get(name) ?? 0) + sign * amount);
    }
    const { cpu, memory } = this.#scored;
    this.#scored = { cpu: cpu + sign * scored.cpu, memory: memory + sign * scored.memory };
  }
}
