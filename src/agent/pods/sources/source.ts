import type { Pod } from '../../../api/index.ts';
import type { Logger } from '../../../base/index.ts';
import { annotationOf, fullName, mirrorAnnotation, originOf } from '../names.ts';
import type { PodSource } from '../types.ts';
import { createListeners } from './listeners.ts';

/**
 * Joins several sources. Mirror pods are left out: the static pods that they mirror are included. A pod that several sources
 * have is one pod, that of the first of them, which is logged.
 */
export function joinSources(sources: readonly PodSource[], log: Logger): PodSource & Disposable {
  const listeners = createListeners(log);
  let logged = new Set<string>();
  let joined: { readonly of: readonly (readonly Pod[])[]; readonly pods: readonly Pod[] } | undefined;

  /** Joined again only when a source has another list: many ask after each change. */
  function pods(): readonly Pod[] {
    const lists = sources.map((source) => source.pods());
    if (joined === undefined || lists.some((list, index) => list !== joined?.of[index]))
      joined = { of: lists, pods: join(lists) };
    return joined.pods;
  }

  function join(lists: readonly (readonly Pod[])[]): readonly Pod[] {
    const { kept, leftOut } = withoutRepeated(lists.flat());
    const texts = leftOut.map(([pod, owner]) => describeRepeated(pod, owner));
    for (const text of texts) if (!logged.has(text)) log.warn(text);
    logged = new Set(texts);
    return kept;
  }

  const subscriptions = sources.map((source) => source.onChange(() => listeners.notify(pods())));
  return {
    pods,
    onChange: listeners.add,
    [Symbol.dispose]() {
      for (const each of subscriptions) each[Symbol.dispose]();
    },
  };
}

/**
 * Of pods with one uid the first counts, and of static pods with one name. A pod of the API may have the name of a static pod:
 * the two follow each other.
 */
function withoutRepeated(pods: readonly Pod[]) {
  const kept: Pod[] = [];
  const leftOut: [pod: Pod, owner: Pod][] = [];
  const byUid = new Map<string, Pod>();
  const byName = new Map<string, Pod>();
  for (const pod of pods) {
    if (annotationOf(pod, mirrorAnnotation) !== undefined) continue;
    const { uid = '' } = pod.metadata ?? {};
    const isStatic = originOf(pod) !== 'api';
    const owner = byUid.get(uid) ?? (isStatic ? byName.get(fullName(pod)) : undefined);
    if (owner !== undefined) {
      leftOut.push([pod, owner]);
      continue;
    }
    byUid.set(uid, pod);
    if (isStatic) byName.set(fullName(pod), pod);
    kept.push(pod);
  }
  return { kept, leftOut };
}

function describeRepeated(pod: Pod, owner: Pod): string {
  const same = fullName(pod) === fullName(owner) ? 'of that name' : `${fullName(owner)} with its uid`;
  return `pod ${fullName(pod)} of ${places[originOf(pod)]} does not count: ${places[originOf(owner)]} has the pod ${same}`;
}

const places = { file: 'the folder of manifests', http: 'the URL of manifests', api: 'the API' } as const;
