import type { Node } from '../../../api/index.ts';
import { tryParseRecord } from '../../../base/index.ts';
import type { CsiDriver } from './types.ts';

/** On the Node: a JSON object from driver names to the drivers' ids of the node (as the reference). */
export const nodeIdAnnotation = 'csi.volume.kubernetes.io/nodeid';

/** A merge patch of the Node's `metadata`. */
export interface MetadataChange {
  readonly labels?: Readonly<Record<string, string>>;
  /** Null removes the annotation. */
  readonly annotations?: Readonly<Record<string, string | null>>;
}

/**
 * Reads the ids from the Node's annotation. One that cannot be parsed counts as empty: it is the agent's own and is
 * rewritten.
 */
export function readNodeIds(node: Node): ReadonlyMap<string, string> {
  const text = node.metadata?.annotations?.[nodeIdAnnotation];
  if (text === undefined) return new Map();
  return new Map(
    Object.entries(tryParseRecord(text) ?? {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
}

/** Thrown when the Node has a label with another value: the agent cannot decide which of the two is right. */
export class TopologyConflict extends Error {
  override readonly name = 'TopologyConflict';

  constructor(key: string, said: string, present: string) {
    super(
      `the driver says that ${key} is ${JSON.stringify(said)}, and the label of the Node says ${JSON.stringify(present)}: ` +
        `take the label away (kubectl label node NAME ${key}-), or mend the driver`,
    );
  }
}

/**
 * Computes the labels and the annotation of a driver that the Node lacks; undefined when it has them all. Throws a
 * TopologyConflict.
 */
export function computeAddition(
  node: Node,
  { name, nodeId, topology }: CsiDriver,
): MetadataChange | undefined {
  const present = node.metadata?.labels ?? {};
  for (const [key, value] of Object.entries(topology)) {
    const label = Object.hasOwn(present, key) ? present[key] : undefined;
    if (label !== undefined && label !== value) throw new TopologyConflict(key, value, label);
  }
  const labels = Object.entries(topology).filter(([key]) => !Object.hasOwn(present, key));
  const ids = readNodeIds(node);
  const isKnown = ids.get(name) === nodeId;
  if (labels.length === 0 && isKnown) return undefined;
  return {
    ...(labels.length === 0 ? {} : { labels: Object.fromEntries(labels) }),
    ...(isKnown ? {} : { annotations: toAnnotation(new Map([...ids, [name, nodeId]])) }),
  };
}

/**
 * Computes the removal of the ids of drivers that have gone, and of entries that are no ids; undefined when there are none.
 * Labels stay, as in the reference: existing volumes are bound to them.
 */
export function computeRemoval(node: Node, gone: ReadonlySet<string>): MetadataChange | undefined {
  const text = node.metadata?.annotations?.[nodeIdAnnotation];
  if (text === undefined) return undefined;
  const ids = readNodeIds(node);
  const left = new Map([...ids].filter(([name]) => !gone.has(name)));
  const isWhole = left.size > 0 && left.size === Object.keys(tryParseRecord(text) ?? {}).length;
  return isWhole ? undefined : { annotations: toAnnotation(left) };
}

function toAnnotation(ids: ReadonlyMap<string, string>): Record<string, string | null> {
  const sorted = [...ids].sort(([one], [other]) => (one < other ? -1 : 1));
  return { [nodeIdAnnotation]: ids.size === 0 ? null : JSON.stringify(Object.fromEntries(sorted)) };
}
