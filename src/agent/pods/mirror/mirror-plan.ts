import type { Node, Pod } from '../../../api/index.ts';
import { annotationOf, fullName, hashAnnotation, mirrorAnnotation } from '../names.ts';

/** The writes that make the API show the static pods of a node. */
export interface MirrorPlan {
  /** Mirrors of pods that are gone or have changed; they are removed before others are created. */
  readonly remove: readonly Pod[];
  readonly create: readonly Pod[];
  /** Mirrors that are as they should be, but for their status. */
  readonly good: readonly (readonly [mirror: Pod, pod: Pod])[];
  /** Of these, those that do not say what is said of their pod. */
  readonly update: readonly (readonly [mirror: Pod, pod: Pod])[];
  /** Static pods whose name another pod on the API has. */
  readonly blocked: readonly Pod[];
}

/** What is known of the static pods beside which they are. */
export interface StaticsKnown {
  /** Whether these are all static pods. */
  readonly isComplete: boolean;
  /** Whether something of a static pod of that name is still here: it ends, after its manifest has gone. Default: nothing is. */
  isEnding?(name: string): boolean;
}

const nothing: MirrorPlan = { remove: [], create: [], good: [], update: [], blocked: [] };

/** Compares the static pods with what the API has for the node. A mirror stays for as long as its pod ends. */
export function planMirrors(
  statics: readonly Pod[],
  onApi: readonly Pod[],
  { isComplete, isEnding = () => false }: StaticsKnown,
): MirrorPlan {
  const mirrors = onApi.filter((pod) => annotationOf(pod, mirrorAnnotation) !== undefined);
  if (statics.length === 0 && mirrors.length === 0) return nothing; // as on most nodes, at each change of a pod
  const wanted = new Map(statics.map((pod) => [fullName(pod), pod]));
  const there = new Map(onApi.map((pod) => [fullName(pod), pod]));
  const good = mirrors.flatMap((mirror) => {
    const pod = findMirrored(mirror, wanted);
    return pod === undefined ? [] : [[mirror, pod] as const];
  });
  const kept = new Set(good.map(([mirror]) => mirror));
  const remove = mirrors.filter((mirror) => {
    const name = fullName(mirror);
    return !kept.has(mirror) && (wanted.has(name) || (isComplete && !isEnding(name)));
  });
  const free = new Set(remove.map(fullName));
  const missing = statics.filter((pod) => !there.has(fullName(pod)) || free.has(fullName(pod)));
  const update = good.filter(([mirror, pod]) => mirror.status?.reason !== pod.status?.reason);
  const blocked = statics.filter((pod) => {
    const other = there.get(fullName(pod));
    return other !== undefined && annotationOf(other, mirrorAnnotation) === undefined;
  });
  return { remove, create: missing, good, update, blocked };
}

/** Returns the mirror pod to create: annotated as a mirror, and owned by the Node, with which it is deleted. */
export function toMirror(pod: Pod, { metadata: node }: Node): Pod {
  const { metadata = {}, spec } = pod;
  const { uid: _uid, ...kept } = metadata;
  const owner = {
    apiVersion: 'v1',
    kind: 'Node',
    name: node?.name ?? '',
    uid: node?.uid ?? '',
    controller: true,
  };
  return {
    metadata: {
      ...kept,
      annotations: { ...metadata.annotations, [mirrorAnnotation]: annotationOf(pod, hashAnnotation) ?? '' },
      ownerReferences: [owner],
    },
    ...(spec === undefined ? {} : { spec }),
  };
}

/** A mirror that is being deleted does not count: deletion cannot be undone. */
function findMirrored(mirror: Pod, statics: ReadonlyMap<string, Pod>): Pod | undefined {
  const pod = statics.get(fullName(mirror));
  if (pod === undefined || mirror.metadata?.deletionTimestamp !== undefined) return undefined;
  return annotationOf(mirror, mirrorAnnotation) === annotationOf(pod, hashAnnotation) ? pod : undefined;
}
