import type { Node } from '../../../api/index.ts';
import { tryParseRecord } from '../../../base/index.ts';
import type { CsiDriver } from './types.ts';

/** On the Node: a JSON object from the name of a driver to what it calls the node (as the reference). */
export const nodeIdAnnotation = 'csi.volume.kubernetes.io/nodeid';

/** A part of `metadata` to merge into the Node's. */
export interface MarkChange {
  readonly labels?: Readonly<Record<string, string>>;
  /** Null takes the annotation away. */
  readonly annotations?: Readonly<Record<string, string | null>>;
}

/** The ids that the Node tells. An annotation that cannot be read tells none: it is the agent's own, and is written anew. */
export function nodeIdsOf(node: Node): ReadonlyMap<string, string> {
  const text = node.metadata?.annotations?.[nodeIdAnnotation];
  if (text === undefined) return new Map();
  return new Map(
    Object.entries(tryParseRecord(text) ?? {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
}

/** Thrown for a label that says otherwise: it is not the agent's to decide which of both is right. */
export class TopologyConflict extends Error {
  override readonly name = 'TopologyConflict';

  constructor(key: string, said: string, present: string) {
    super(
      `the driver says that ${key} is ${JSON.stringify(said)}, and the label of the Node says ${JSON.stringify(present)}: ` +
        `take the label away (kubectl label node NAME ${key}-), or mend the driver`,
    );
  }
}

/** What of a driver the Node lacks; undefined where it has it all. Throws a TopologyConflict. */
export function marksFor(node: Node, { name, nodeId, topology }: CsiDriver): MarkChange | undefined {
  const present = node.metadata?.labels ?? {};
  for (const [key, value] of Object.entries(topology)) {
    const label = Object.hasOwn(present, key) ? present[key] : undefined;
    if (label !== undefined && label !== value) throw new TopologyConflict(key, value, label);
  }
  const labels = Object.entries(topology).filter(([key]) => !Object.hasOwn(present, key));
  const ids = nodeIdsOf(node);
  const isKnown = ids.get(name) === nodeId;
  if (labels.length === 0 && isKnown) return undefined;
  return {
    ...(labels.length === 0 ? {} : { labels: Object.fromEntries(labels) }),
    ...(isKnown ? {} : { annotations: annotationOf(new Map([...ids, [name, nodeId]])) }),
  };
}

/**
 * Takes the ids of drivers that have gone from the Node, and what is no id; undefined where there is none of it. Their labels
 * stay, as in the reference: volumes that exist are bound to them.
 */
export function marksWithout(node: Node, gone: ReadonlySet<string>): MarkChange | undefined {
  const text = node.metadata?.annotations?.[nodeIdAnnotation];
  if (text === undefined) return undefined;
  const ids = nodeIdsOf(node);
  const left = new Map([...ids].filter(([name]) => !gone.has(name)));
  const isWhole = left.size > 0 && left.size === Object.keys(tryParseRecord(text) ?? {}).length;
  return isWhole ? undefined : { annotations: annotationOf(left) };
}

function annotationOf(ids: ReadonlyMap<string, string>): Record<string, string | null> {
  const sorted = [...ids].sort(([one], [other]) => (one < other ? -1 : 1));
  return { [nodeIdAnnotation]: ids.size === 0 ? null : JSON.stringify(Object.fromEntries(sorted)) };
}
