import type { Pod } from '../../api/index.ts';
import { podHasEnded } from '../../api/index.ts';
import { containersOf, wantedSeccomp } from '../seccomp/index.ts';
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

/** Who names which profile, by the profile's path; pods that have ended use nothing any more. */
export function profilesInUse(pods: readonly Pod[]): ReadonlyMap<string, readonly ProfileUse[]> {
  const uses = new Map<string, ProfileUse[]>();
  for (const pod of pods) {
    if (podHasEnded(pod)) continue;
    for (const [path, containers] of containersByProfile(pod)) {
      uses.set(path, [...(uses.get(path) ?? []), useOf(pod, containers)]);
    }
  }
  return uses;
}

function useOf(pod: Pod, containers: readonly string[]): ProfileUse {
  const { namespace = '', name = '', uid = '' } = pod.metadata ?? {};
  const runs = runningIn(pod);
  const fieldPath = fieldPathOf(pod, containers);
  return {
    namespace,
    pod: name,
    uid: uid || `${namespace}/${name}`,
    containers,
    running: containers.filter((each) => runs.has(each)),
    ...(fieldPath === undefined ? {} : { fieldPath }),
  };
}

const lists = ['containers', 'initContainers', 'ephemeralContainers'] as const;

function fieldPathOf({ spec }: Pod, [only, ...more]: readonly string[]): string | undefined {
  if (more.length > 0) return undefined;
  const list = lists.find((each) => spec?.[each]?.some(({ name }) => name === only));
  return list === undefined ? undefined : `spec.${list}{${only}}`;
}

function containersByProfile(pod: Pod): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { name = '' } of containersOf(pod)) {
    const wanted = wantedSeccomp(pod, name, { seccompDefault: true });
    const path = wanted.type === 'Localhost' ? normalizedProfile(wanted.localhostProfile) : undefined;
    if (path !== undefined) found.set(path, [...(found.get(path) ?? []), name]);
  }
  return found;
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
