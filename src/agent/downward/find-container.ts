import type { ContainerSpec, Pod } from '../../api/index.ts';

type PodSpec = NonNullable<Pod['spec']>;
/** A container of any list: ephemeral ones have the fields of the others. */
export type AnyContainer = ContainerSpec | NonNullable<PodSpec['ephemeralContainers']>[number];

/** Of all lists. */
export function listContainers({ spec }: Pod): AnyContainer[] {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec ?? {};
  return [...initContainers, ...containers, ...ephemeralContainers];
}

/** Throws when the pod has no such container, which is an error of the caller. */
export function findContainer(pod: Pod, name: string): AnyContainer {
  const found = listContainers(pod).find((each) => each.name === name);
  if (found === undefined) throw new Error(`the pod has no container ${JSON.stringify(name)}`);
  return found;
}

export function namespaceOf({ metadata }: Pod): string {
  return metadata?.namespace ?? 'default';
}

/** As the reference names a pod in its messages: `NAME_NAMESPACE(UID)`, in quotes. */
export function quotePod(pod: Pod): string {
  const { name = '', uid = '' } = pod.metadata ?? {};
  return JSON.stringify(`${name}_${namespaceOf(pod)}(${uid})`);
}
