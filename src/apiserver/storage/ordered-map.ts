import sortedBtree from 'sorted-btree';
import { endOfPrefix, KeyOrder } from './key-order.ts';

type Tree<V> = InstanceType<typeof sortedBtree.default<string, V>>;

/** Keys in the order of their UTF-8 bytes, each with a value. */
export class OrderedMap<V> {
  readonly #order: KeyOrder;
  readonly #tree: Tree<V>;

  constructor(order = new KeyOrder(), tree: Tree<V> = new sortedBtree.default<string, V>([], order.compare)) {
    this.#order = order;
    this.#tree = tree;
  }

  get size(): number {
    return this.#tree.size;
  }

  get(key: string): V | undefined {
    return this.#tree.get(key);
  }

  set(key: string, value: V): void {
    this.#order.admit(key);
    this.#tree.set(key, value);
  }

  delete(key: string): void {
    this.#tree.delete(key);
  }

  clear(): void {
    this.#tree.clear();
  }

  /** A copy in constant time: both share the parts that neither changes afterwards. */
  copy(): OrderedMap<V> {
    return new OrderedMap(this.#order, this.#tree.clone());
  }

  /**
   * Calls `take` with the values of keys that start with `prefix` and are greater than `after` ('': all), in order, until
   * it returns false.
   */
  walk(prefix: string, after: string, take: (value: V) => boolean): void {
    const from = this.#lowest(prefix, after);
    const reused: (string | V)[] = [];
    for (const [key, value] of this.#tree.entries(from, reused)) {
      if (!key.startsWith(prefix)) return;
      if (key !== after && !take(value)) return;
    }
  }

  /** How many keys start with `prefix` and are greater than `after`. */
  count(prefix: string, after: string): number {
    const from = this.#lowest(prefix, after);
    const end = endOfPrefix(prefix);
    if (end !== undefined) this.#order.admit(end);
    const high = end ?? this.#tree.maxKey();
    if (high === undefined || this.#order.compare(from, high) > 0) return 0;
    const found = this.#tree.forRange(from, high, end === undefined);
    return from === after && this.#tree.has(after) ? found - 1 : found;
  }

  #lowest(prefix: string, after: string): string {
    this.#order.admit(prefix);
    this.#order.admit(after);
    return this.#order.compare(after, prefix) > 0 ? after : prefix;
  }
}
