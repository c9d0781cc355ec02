import { isDeepStrictEqual } from 'node:util';
import { nodeKind } from '../../../api/index.ts';
import type { ControllerOptions, Follows } from '../../controllers/index.ts';
import { ParsedObjects } from '../../controllers/index.ts';
import type { Stored } from '../../storage/index.ts';
import type { DaemonNode } from './node-fit.ts';
import { readDaemonNode } from './node-fit.ts';

/** What counts of every node for daemons. One that cannot be read stays as it was. */
export class NodeIndex {
  readonly follows: Follows;
  readonly #nodes = new Map<string, DaemonNode>();
  readonly #keyPrefix: string;

  /** `onChange` is called when there is a node more or less, or what counts of one has changed. */
  constructor({ registry, log }: ControllerOptions, onChange: () => void) {
    const resource = registry.of(nodeKind);
    const parsed = new ParsedObjects(registry, nodeKind, log, 'the controller of daemon sets');
    this.#keyPrefix = resource.prefix('');
    const written = (stored: Stored) => {
      const node = parsed.read(stored);
      if (node === undefined) return;
      const facts = readDaemonNode(node);
      if (isDeepStrictEqual(this.#nodes.get(facts.name), facts)) return;
      this.#nodes.set(facts.name, facts);
      onChange();
    };
    const gone = ({ key }: Stored) => {
      if (this.#nodes.delete(resource.placeOf(key).name)) onChange();
    };
    this.follows = { resource, present: written, added: written, changed: written, gone };
  }

  all(): Iterable<DaemonNode> {
    return this.#nodes.values();
  }

  /** The key of a node in the store. */
  keyOf(name: string): string {
    return this.#keyPrefix + name;
  }
}
