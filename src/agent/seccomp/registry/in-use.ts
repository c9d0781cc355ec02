import type { Pod } from '../../../api/index.ts';
import { podHasEnded } from '../../../api/index.ts';
import { containersOf, localhostProfileOf } from '../index.ts';
import { normalizedProfile } from './file-names.ts';

/** A pod of this node that names a profile. */
export interface ProfileUse {
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  /** Its containers that are to run with it, of every sort. */
  readonly containers: readonly string[];
  /** Those of them that run, as far as the pod's status says. */
  readonly running: readonly string[];
  /** Of the only container, where it is one: `spec.containers{app}`. */
  readonly fieldPath?: string;
}

/**
 * Who names which profile, by the profile's path; pods that have ended use nothing any more. It is asked each time that a
 * pod changes, and others say how many containers a pod has: the time goes with the number of containers.
 */
export function profilesInUse(pods: readonly Pod[]): ReadonlyMap<string, readonly ProfileUse[]> {
  const uses = new Map<string, ProfileUse[]>();
  for (const pod of pods) {
    if (podHasEnded(pod)) continue;
    for (const [path, use] of usesOf(pod)) addTo(uses, path, use);
  }
  return uses;
}

function usesOf(pod: Pod): [path: string, use: ProfileUse][] {
  const { namespace = '', name = '', uid = '' } = pod.metadata ?? {};
  const named = containersByProfile(pod);
  if (named.size === 0) return [];
  const runs = runningIn(pod);
  const places = placesIn(pod);
  return [...named].map(([path, containers]) => {
    const fieldPath = containers.length === 1 ? places.get(containers[0] ?? '') : undefined;
    const use = {
      ...{ namespace, pod: name, uid: uid || `${namespace}/${name}`, containers },
      running: containers.filter((each) => runs.has(each)),
      ...(fieldPath === undefined ? {} : { fieldPath }),
    };
    return [path, use];
  });
}

function containersByProfile(pod: Pod): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const container of containersOf(pod)) {
    const path = normalizedProfile(localhostProfileOf(pod, container) ?? '');
    if (path !== undefined) addTo(found, path, container.name ?? '');
  }
  return found;
}

function addTo<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/** Where each container stands, by its name: `spec.containers{app}`. */
function placesIn({ spec }: Pod): Map<string, string> {
  const places = new Map<string, string>();
  for (const list of ['containers', 'initContainers', 'ephemeralContainers'] as const)
    for (const { name = '' } of spec?.[list] ?? [])
      if (!places.has(name)) places.set(name, `spec.${list}{${name}}`);
  return places;
}

function runningIn({ status }: Pod): Set<string> {
  const {
    containerStatuses = [],
    initContainerStatuses = [],
    ephemeralContainerStatuses = [],
  } = status ?? {};
  const all = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses];
  return new Set(all.flatMap(({ name = '', state }) => (state?.running === undefined ? [] : [name])));
}
