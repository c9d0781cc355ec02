import type { Pod } from '../../../api/index.ts';
import { podHasEnded } from '../../../api/index.ts';
import { containersOf, findLocalhostProfile } from '../index.ts';
import { normalizeProfilePath } from './file-names.ts';

/** The use of one profile by one pod of this node. */
export interface ProfileUse {
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  /** The names of its containers, init and ephemeral containers whose profile it is. */
  readonly containers: readonly string[];
  /** Those of them that are running, according to the pod's status. */
  readonly running: readonly string[];
  /** Set for a single container: `spec.containers{app}`. */
  readonly fieldPath?: string;
}

/**
 * Finds the pods that name each profile, by the profile's path; pods that have ended use none. It runs at every change of a
 * pod, and users decide how many containers a pod has, so its time is linear in the number of containers.
 */
export function findProfileUses(pods: readonly Pod[]): ReadonlyMap<string, readonly ProfileUse[]> {
  const uses = new Map<string, ProfileUse[]>();
  for (const pod of pods) {
    if (podHasEnded(pod)) continue;
    for (const [path, use] of listUses(pod)) append(uses, path, use);
  }
  return uses;
}

function listUses(pod: Pod): [path: string, use: ProfileUse][] {
  const { namespace = '', name = '', uid = '' } = pod.metadata ?? {};
  const named = groupByProfile(pod);
  if (named.size === 0) return [];
  const runs = findRunning(pod);
  const fieldPaths = findFieldPaths(pod);
  return [...named].map(([path, containers]) => {
    const fieldPath = containers.length === 1 ? fieldPaths.get(containers[0] ?? '') : undefined;
    const use = {
      ...{ namespace, pod: name, uid: uid || `${namespace}/${name}`, containers },
      running: containers.filter((each) => runs.has(each)),
      ...(fieldPath === undefined ? {} : { fieldPath }),
    };
    return [path, use];
  });
}

function groupByProfile(pod: Pod): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const container of containersOf(pod)) {
    const path = normalizeProfilePath(findLocalhostProfile(pod, container) ?? '');
    if (path !== undefined) append(found, path, container.name ?? '');
  }
  return found;
}

function append<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/** The field path of each container, by its name: `spec.containers{app}`. */
function findFieldPaths({ spec }: Pod): Map<string, string> {
  const fieldPaths = new Map<string, string>();
  for (const list of ['containers', 'initContainers', 'ephemeralContainers'] as const)
    for (const { name = '' } of spec?.[list] ?? [])
      if (!fieldPaths.has(name)) fieldPaths.set(name, `spec.${list}{${name}}`);
  return fieldPaths;
}

function findRunning({ status }: Pod): Set<string> {
  const {
    containerStatuses = [],
    initContainerStatuses = [],
    ephemeralContainerStatuses = [],
  } = status ?? {};
  const all = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses];
  return new Set(all.flatMap(({ name = '', state }) => (state?.running === undefined ? [] : [name])));
}
