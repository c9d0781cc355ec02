import type { Pod } from '../../../api/index.ts';
import { podKind } from '../../../api/index.ts';
import { EventLoopYielder } from '../../../base/index.ts';
import type { Registry, Resource } from '../../registry/index.ts';
import { isMirrorPod, namedNodes } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';
import { podReferences } from './pod-references.ts';

/*
 * Which objects the pods of each node name. A pod is written far more often than its node asks for something, so a write
 * only notes on which node the pod may be, told from its bytes; it is parsed when that node asks next. Most nodes of a
 * fleet ask for little, and what nobody asks for costs a few pointers.
 *
 *     a change ──► stale pods of a node ──(that node asks)──► references of each pod ──► how often each object is named
 *
 * A pod that has ended counts until it is deleted, as in the reference; a mirror pod names nothing.
 */

/** So many pods are looked at in one go; beyond that others get their turn in between. */
const maxAtOnce = 200;
/** A pod in which more nodes seem to be named is parsed at once: it can name as many as somebody likes. */
const maxNamed = 8;

class NodePods {
  readonly stale = new Set<string>();
  /** Of each pod that was looked at and names something. */
  readonly #references = new Map<string, readonly string[]>();
  /** How many pods name an object; by `NAMESPACE/RESOURCE/NAME`. */
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

/** As of the last write that was applied, for as long as the store lives. */
export class PodsByNode {
  readonly #pods: Resource<Pod>;
  readonly #nodes = new Map<string, NodePods>();
  /** Where each pod may be: mostly on one node. */
  readonly #places = new Map<string, readonly string[] | string>();

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

  /** How many nodes are kept in mind. */
  get size(): number {
    return this.#nodes.size;
  }

  /** Whether a pod of the node names an object of the pod's namespace; `reference` is `RESOURCE/NAME`. */
  names(node: string, namespace: string, reference: string): boolean | Promise<boolean> {
    const pods = this.#nodes.get(node);
    if (pods === undefined) return false;
    const object = `${namespace}/${reference}`;
    if (pods.stale.size > maxAtOnce) return this.#namesLater(node, object);
    for (const key of pods.stale) this.#look(key, node, pods);
    return pods.has(object);
  }

  async #namesLater(node: string, object: string): Promise<boolean> {
    const yielder = new EventLoopYielder();
    for (;;) {
      const pods = this.#nodes.get(node);
      if (pods === undefined) return false;
      for (const key of pods.stale) {
        this.#look(key, node, pods);
        if (yielder.isDue) break;
      }
      if (pods.stale.size === 0) return pods.has(object);
      await yielder.yield(); // and look again from the beginning: anything may have changed
    }
  }

  #look(key: string, node: string, pods: NodePods): void {
    const stored = this.#pods.storage.get(key);
    const pod = stored && this.#pods.encoding.read(stored);
    const counts = pod !== undefined && pod.spec?.nodeName === node && !isMirrorPod(pod);
    const namespace = pod?.metadata?.namespace ?? '';
    pods.set(key, counts ? podReferences(pod).map((reference) => `${namespace}/${reference}`) : []);
  }

  #follow(key: string, next: Stored | null): void {
    const before = this.#places.get(key) ?? [];
    const now = next === null ? [] : this.#placesIn(next);
    for (const node of typeof before === 'string' ? [before] : before) {
      if (!now.includes(node)) this.#leave(key, node);
    }
    for (const node of now) this.#at(node).stale.add(key);
    if (now.length === 0) this.#places.delete(key);
    else this.#places.set(key, now.length === 1 ? (now[0] ?? []) : now);
  }

  #placesIn(stored: Stored): string[] {
    const named = new Set<string>();
    for (const node of namedNodes(stored)) {
      if (named.add(node).size <= maxNamed) continue;
      const { nodeName } = this.#pods.encoding.read(stored).spec ?? {};
      return nodeName ? [nodeName] : [];
    }
    return [...named];
  }

  #leave(key: string, node: string): void {
    const pods = this.#nodes.get(node);
    pods?.forget(key);
    if (pods?.isEmpty) this.#nodes.delete(node);
  }

  #at(node: string): NodePods {
    const known = this.#nodes.get(node) ?? new NodePods();
    this.#nodes.set(node, known);
    return known;
  }
}
