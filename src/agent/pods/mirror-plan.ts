import type { Node, Pod } from '../../api/index.ts';
import { annotationOf, fullName, hashAnnotation, mirrorAnnotation } from './names.ts';

/** What is to be done on the API so that it shows the static pods of a node. */
export interface MirrorPlan {
  /** Mirrors of what is no more, or was another one; they come first. */
  readonly remove: readonly Pod[];
  readonly create: readonly Pod[];
  /** Mirrors that do not say yet how their pod is. */
  readonly tell: readonly (readonly [mirror: Pod, pod: Pod])[];
  /** Static pods whose name something else has. */
  readonly blocked: readonly Pod[];
}

/** Compares the static pods with what the API has for the node. `isComplete`: there are no static pods but these. */
export function planMirrors(statics: readonly Pod[], onApi: readonly Pod[], isComplete: boolean): MirrorPlan {
  const wanted = new Map(statics.map((pod) => [fullName(pod), pod]));
  const there = new Map(onApi.map((pod) => [fullName(pod), pod]));
  const mirrors = onApi.filter((pod) => annotationOf(pod, mirrorAnnotation) !== undefined);
  const good = mirrors.filter((mirror) => isMirrorOf(mirror, wanted.get(fullName(mirror))));
  const remove = mirrors.filter(
    (mirror) => !good.includes(mirror) && (isComplete || wanted.has(fullName(mirror))),
  );
  const free = new Set(remove.map(fullName));
  const missing = statics.filter((pod) => !there.has(fullName(pod)) || free.has(fullName(pod)));
  const tell = good.flatMap((mirror) => {
    const pod = wanted.get(fullName(mirror));
    return pod === undefined || mirror.status?.reason === pod.status?.reason ? [] : [[mirror, pod] as const];
  });
  const blocked = statics.filter((pod) => {
    const other = there.get(fullName(pod));
    return other !== undefined && annotationOf(other, mirrorAnnotation) === undefined;
  });
  return { remove, create: missing, tell, blocked };
}

/** As it shall be made: marked, and owned by the Node, with which it goes. */
export function mirrorOf(pod: Pod, { metadata: node }: Node): Pod {
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

/** One that is being deleted is none any more: there is no way back. */
function isMirrorOf(mirror: Pod, pod: Pod | undefined): boolean {
  if (pod === undefined || mirror.metadata?.deletionTimestamp !== undefined) return false;
  return annotationOf(mirror, mirrorAnnotation) === annotationOf(pod, hashAnnotation);
}
