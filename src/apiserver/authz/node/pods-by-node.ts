import type { Pod, PodReference } from '../../../api/index.ts';
import { listPodReferences, podKind } from '../../../api/index.ts';
import { EventLoopYielder } from '../../../base/index.ts';
import type { Registry, Resource } from '../../registry/index.ts';
import { isMirrorPod, namedNodes } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';

/*
 * Which objects the pods of each node refer to. A pod is written far more often than its node asks for an object, so a write
 * only records on which node the pod may be, which is found in its bytes without parsing; the pod is parsed when that node
 * asks next. Most nodes of a fleet ask for little, and a pod that is not parsed costs a few pointers.
 *
 *     a change ──► stale pods of a node ──(that node asks)──► references of each pod ──► how often each object is named
 *
 * As in the reference, a terminated pod counts until it is deleted; references of mirror pods do not count.
 */

/** Up to so many pods are parsed in one step; with more, the work yields to other requests. */
const maxAtOnce = 200;
/** A pod whose bytes seem to name more nodes is parsed at once, because its author can put any number of names in it. */
const maxNodesNamed = 8;

class NodePods {
  readonly stale = new Set<string>();
  /** The references of each parsed pod that has some. */
  readonly #references = new Map<string, readonly string[]>();
  /** How many pods refer to an object, by `NAMESPACE/RESOURCE/NAME`. */
  readonly #named = new Map<string, number>();

  get isEmpty(): boolean {
    return this.stale.size + this.#references.size === 0;
  }

  has(object: string): boolean {
    return this.#named.has(object);
  }

  set(key: string, references: readonly string[]): void {
    this.forget(key);
    if (references.length === 0) return;
    this.#references.set(key, references);
    for (const object of references) this.#named.set(object, (this.#named.get(object) ?? 0) + 1);
  }

  forget(key: string): void {
    this.stale.delete(key);
    for (const object of this.#references.get(key) ?? []) {
      const rest = (this.#named.get(object) ?? 0) - 1;
      if (rest > 0) this.#named.set(object, rest);
      else this.#named.delete(object);
    }
    this.#references.delete(key);
  }
}

/** The state as of the last applied write, for the lifetime of the store. */
export class PodsByNode {
  readonly #pods: Resource<Pod>;
  readonly #nodes = new Map<string, NodePods>();
  /** The nodes on which each pod may be: mostly one. */
  readonly #nodesOfPod = new Map<string, readonly string[] | string>();

  constructor(registry: Registry) {
    this.#pods = registry.of(podKind);
    const follow = (stored: Stored) => this.#follow(stored.key, stored);
    this.#pods.follow({
      present: follow,
      added: follow,
      changed: follow,
      gone: ({ key }) => this.#follow(key, null),
    });
  }

  /** The number of nodes with pods. */
  get size(): number {
    return this.#nodes.size;
  }

  /** Whether a pod of the node refers to an object of the pod's namespace; `reference` is `RESOURCE/NAME`. */
  names(node: string, namespace: string, reference: string): boolean | Promise<boolean> {
    const pods = this.#nodes.get(node);
    if (pods === undefined) return false;
    const object = `${namespace}/${reference}`;
    if (pods.stale.size > maxAtOnce) return this.#namesLater(node, object);
    for (const key of pods.stale) this.#parse(key, node, pods);
    return pods.has(object);
  }

  async #namesLater(node: string, object: string): Promise<boolean> {
    const yielder = new EventLoopYielder();
    for (;;) {
      const pods = this.#nodes.get(node);
      if (pods === undefined) return false;
      for (const key of pods.stale) {
        this.#parse(key, node, pods);
        if (yielder.isDue) break;
      }
      if (pods.stale.size === 0) return pods.has(object);
      await yielder.yield(); // then start again, because anything may have changed
    }
  }

  #parse(key: string, node: string, pods: NodePods): void {
    const stored = this.#pods.storage.get(key);
    const pod = stored && this.#pods.encoding.read(stored);
    const counts = pod !== undefined && pod.spec?.nodeName === node && !isMirrorPod(pod);
    const namespace = pod?.metadata?.namespace ?? '';
    pods.set(key, counts ? listPodReferences(pod).map((each) => `${namespace}/${referenceKey(each)}`) : []);
  }

  #follow(key: string, next: Stored | null): void {
    const before = this.#nodesOfPod.get(key) ?? [];
    const now = next === null ? [] : this.#findNodes(next);
    for (const node of typeof before === 'string' ? [before] : before) {
      if (!now.includes(node)) this.#removeFrom(key, node);
    }
    for (const node of now) this.#podsOn(node).stale.add(key);
    if (now.length === 0) this.#nodesOfPod.delete(key);
    else this.#nodesOfPod.set(key, now.length === 1 ? (now[0] ?? []) : now);
  }

  #findNodes(stored: Stored): string[] {
    const named = new Set<string>();
    for (const node of namedNodes(stored)) {
      if (named.add(node).size <= maxNodesNamed) continue;
      const { nodeName } = this.#pods.encoding.read(stored).spec ?? {};
      return nodeName ? [nodeName] : [];
    }
    return [...named];
  }

  #removeFrom(key: string, node: string): void {
    const pods = this.#nodes.get(node);
    pods?.forget(key);
    if (pods?.isEmpty) this.#nodes.delete(node);
  }

  #podsOn(node: string): NodePods {
    const known = this.#nodes.get(node) ?? new NodePods();
    this.#nodes.set(node, known);
    return known;
  }
}

/** What `PodsByNode.names` is asked with. */
export function referenceKey({ resource, name }: PodReference): string {
  return `${resource}/${name}`;
}
