import type { Pod } from '../../api/index.ts';
import { kindOf } from './kinds/table.ts';
import type { PodVolume, VolumeTools } from './kinds/types.ts';
import type { SubPathTools } from './sub-path.ts';
import { bindSubPath } from './sub-path.ts';
import type { Variable } from './sub-path-expr.ts';
import { expandSubPath, findSubPathFault } from './sub-path-expr.ts';
import type { VolumeMount } from './types.ts';

type Spec = NonNullable<Pod['spec']>;
type Container = Pick<NonNullable<Spec['ephemeralContainers']>[number], 'name' | 'volumeMounts'>;
type Mount = NonNullable<Container['volumeMounts']>[number];

export interface MountOptions {
  readonly tools: VolumeTools & SubPathTools;
  readonly environment: readonly Variable[];
  /** Whether the runtime can make a mount read-only with everything below it. */
  readonly supportsRecursiveReadOnly: boolean;
}

export function containersOf({ spec }: Pod): Container[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])];
}

/** The volumes that a container of the pod mounts; others are not set up, as in the reference. */
export function usedVolumes(pod: Pod): PodVolume[] {
  const containers: readonly Pick<
    NonNullable<Spec['initContainers']>[number],
    'volumeDevices' | 'volumeMounts'
  >[] = containersOf(pod);
  const used = new Set(
    containers.flatMap(({ volumeMounts = [], volumeDevices = [] }) =>
      [...volumeMounts, ...volumeDevices].map(({ name }) => name),
    ),
  );
  const uid = pod.metadata?.uid ?? '';
  return (pod.spec?.volumes ?? [])
    .filter(({ name }) => used.has(name))
    .map((source) => ({ pod, uid, name: source.name, source }));
}

/** The mounts of one container, in the order of its `volumeMounts`. */
export async function listMounts(pod: Pod, name: string, options: MountOptions): Promise<VolumeMount[]> {
  const container = containersOf(pod).find((each) => each.name === name);
  if (container === undefined) throw new Error(`the pod has no container ${JSON.stringify(name)}`);
  const mounts: VolumeMount[] = [];
  for (const [index, mount] of (container.volumeMounts ?? []).entries())
    mounts.push(await resolveMount(pod, name, { mount, index }, options));
  return mounts;
}

async function resolveMount(
  pod: Pod,
  container: string,
  { mount, index }: { readonly mount: Mount; readonly index: number },
  { tools, environment, supportsRecursiveReadOnly }: MountOptions,
): Promise<VolumeMount> {
  const volume = usedVolumes(pod).find(({ name }) => name === mount.name);
  if (volume === undefined)
    throw new Error(
      `cannot find volume ${JSON.stringify(mount.name)} to mount into container ${JSON.stringify(container)}`,
    );
  const kind = kindOf(volume.source);
  const base = await kind.pathOf(volume, tools);
  const path = subPathOf(mount, environment);
  const place = { uid: volume.uid, volume: volume.name, container, index };
  const hostPath =
    path === '' ? base : await bindSubPath({ ...place, base, path, isForeign: kind.isForeign }, tools);
  return {
    containerPath: mount.mountPath,
    hostPath,
    isReadOnly: mount.readOnly === true || kind.isReadOnly?.(volume) === true,
    isRecursiveReadOnly: isRecursiveReadOnly(mount, supportsRecursiveReadOnly),
    propagation: propagationOf(mount),
  };
}

function subPathOf({ subPath = '', subPathExpr = '' }: Mount, environment: readonly Variable[]): string {
  const path = subPathExpr === '' ? subPath : expandSubPath(subPathExpr, environment);
  const fault = findSubPathFault(path);
  if (fault !== undefined) throw new Error(fault);
  return path;
}

function isRecursiveReadOnly(mount: Mount, isSupported: boolean): boolean {
  const { name, recursiveReadOnly: wanted = 'Disabled', readOnly, mountPropagation = 'None' } = mount;
  if (wanted === 'Disabled') return false;
  const asked = `volume ${JSON.stringify(name)} requested recursiveReadOnly mode, but it is not`;
  if (readOnly !== true) throw new Error(`${asked} read-only`);
  if (mountPropagation !== 'None')
    throw new Error(`${asked} compatible with propagation ${JSON.stringify(mountPropagation)}`);
  if (wanted === 'IfPossible') return isSupported;
  if (wanted !== 'Enabled') throw new Error(`unknown recursive read-only mode ${JSON.stringify(wanted)}`);
  if (!isSupported) throw new Error(`${asked} supported by the runtime`);
  return true;
}

function propagationOf({ mountPropagation = 'None' }: Mount): VolumeMount['propagation'] {
  switch (mountPropagation) {
    case 'None':
    case 'HostToContainer':
    case 'Bidirectional':
      return mountPropagation;
    default:
      throw new Error(`unknown mount propagation ${JSON.stringify(mountPropagation)}`);
  }
}
