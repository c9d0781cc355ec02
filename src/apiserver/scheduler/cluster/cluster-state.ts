import type { VolumeLookup } from '../volumes/lookup.ts';
import type { NodeFacts } from './node-state.ts';
import { NodeState } from './node-state.ts';
import type { PodFacts } from './pod-facts.ts';
import type { NamespaceLabels } from './terms.ts';

/** Where a pod is. */
export interface PlacedPod {
  readonly pod: PodFacts;
  readonly node: NodeState;
}

export interface ClusterLookups {
  readonly namespaceLabels: NamespaceLabels;
  readonly volumes: VolumeLookup;
  /** Key of the taint of nodes that are closed to new pods. */
  readonly unschedulableTaint: string;
  /** The selectors by which a Service or a controller of the pod finds it and its like; what is spread when the pod does not say. */
  selectorsOf(pod: PodFacts): readonly ((labels: Readonly<Record<string, string>>) => boolean)[];
}

/**
 * All nodes with their pods. A pod counts on its node from the moment it is decided, before the API has it: `place` is called
 * again when it is seen there, and changes nothing then.
 */
export class ClusterState {
  readonly lookups: ClusterLookups;
  readonly #nodes = new Map<string, NodeState>();
  #nodeList: readonly NodeState[] | undefined;
  readonly #nodeOf = new Map<string, string>();
  /** Pods on nodes that are not there, or not yet. */
  readonly #homeless = new Map<string, Map<string, PodFacts>>();
  /** Pods that want others apart, or near: what others must ask. */
  readonly #choosy = new Map<string, PlacedPod>();
  readonly #imageNodes = new Map<string, number>();

  constructor(lookups: ClusterLookups) {
    this.lookups = lookups;
  }

  get nodes(): readonly NodeState[] {
    this.#nodeList ??= [...this.#nodes.values()];
    return this.#nodeList;
  }

  /** The pods with terms of affinity of their own, preferred ones too. */
  get choosyPods(): Iterable<PlacedPod> {
    return this.#choosy.values();
  }

  node(name: string): NodeState | undefined {
    return this.#nodes.get(name);
  }

  /** On how many nodes an image is. */
  countImage(name: string): number {
    return this.#imageNodes.get(name) ?? 0;
  }

  /** Returns the state of the node, which is new when the node has changed. */
  setNode(facts: NodeFacts): NodeState {
    const old = this.#nodes.get(facts.name);
    const pods = old?.pods ?? this.#homeless.get(facts.name) ?? new Map<string, PodFacts>();
    const node = new NodeState(facts, pods.values());
    if (old !== undefined) this.#countImages(old.facts, -1);
    this.#countImages(facts, 1);
    this.#nodes.set(facts.name, node);
    this.#homeless.delete(facts.name);
    for (const pod of pods.values()) this.#noteChoosy(pod, node);
    this.#nodeList = undefined;
    return node;
  }

  removeNode(name: string): void {
    const node = this.#nodes.get(name);
    if (node === undefined) return;
    this.#countImages(node.facts, -1);
    this.#nodes.delete(name);
    for (const pod of node.pods.values()) this.#choosy.delete(pod.key);
    if (node.pods.size > 0) this.#homeless.set(name, new Map(node.pods));
    this.#nodeList = undefined;
  }

  place(pod: PodFacts, nodeName: string): void {
    this.take(pod.key);
    this.#nodeOf.set(pod.key, nodeName);
    const node = this.#nodes.get(nodeName);
    if (node === undefined) {
      const waiting = this.#homeless.get(nodeName) ?? new Map<string, PodFacts>();
      this.#homeless.set(nodeName, waiting.set(pod.key, pod));
      return;
    }
    node.add(pod);
    this.#noteChoosy(pod, node);
  }

  /** Takes a pod from its node; returns that node's name. */
  take(key: string): string | undefined {
    const nodeName = this.#nodeOf.get(key);
    if (nodeName === undefined) return undefined;
    this.#nodeOf.delete(key);
    this.#choosy.delete(key);
    this.#nodes.get(nodeName)?.remove(key);
    const waiting = this.#homeless.get(nodeName);
    waiting?.delete(key);
    if (waiting?.size === 0) this.#homeless.delete(nodeName);
    return nodeName;
  }

  /** The name of the node that a pod is on, also of one that is not there. */
  nodeOf(key: string): string | undefined {
    return this.#nodeOf.get(key);
  }

  #noteChoosy(pod: PodFacts, node: NodeState): void {
    const { near, apart, preferNear, preferApart } = pod;
    if (near.length + apart.length + preferNear.length + preferApart.length > 0) {
      this.#choosy.set(pod.key, { pod, node });
    }
  }

  #countImages({ images }: NodeFacts, by: 1 | -1): void {
    for (const name of images.keys()) {
      const count = (this.#imageNodes.get(name) ?? 0) + by;
      if (count > 0) this.#imageNodes.set(name, count);
      else this.#imageNodes.delete(name);
    }
  }
}
