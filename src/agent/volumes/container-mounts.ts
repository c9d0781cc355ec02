import type { Pod } from '../../api/index.ts';
import { listContainers } from '../downward/index.ts';
import { kindOf } from './kinds/table.ts';
import type { PodVolume, VolumeTools } from './kinds/types.ts';
import type { SubPathTools } from './sub-path.ts';
import { bindSubPath } from './sub-path.ts';
import type { Variable } from './sub-path-expr.ts';
import { expandSubPath, findSubPathFault } from './sub-path-expr.ts';
import type { VolumeAccess, VolumeMount } from './types.ts';

type Spec = NonNullable<Pod['spec']>;
type Container = Pick<NonNullable<Spec['ephemeralContainers']>[number], 'name' | 'volumeMounts'>;
type Mount = NonNullable<Container['volumeMounts']>[number];

export interface MountOptions {
  readonly tools: VolumeTools & SubPathTools;
  readonly environment: readonly Variable[];
  /** The ids of the images that the container mounts, by the names of the volumes. */
  readonly images: ReadonlyMap<string, string>;
  /** Whether the runtime can make a mount read-only with everything below it. */
  readonly supportsRecursiveReadOnly: boolean;
}

/** The volumes that a container of the pod mounts; others are not set up, as in the reference. */
export function usedVolumes(pod: Pod): PodVolume[] {
  const containers: readonly Pick<
    NonNullable<Spec['initContainers']>[number],
    'volumeDevices' | 'volumeMounts'
  >[] = listContainers(pod);
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

/** Its block devices, and the groups that the volumes of the pod ask for. */
export async function listAccess(pod: Pod, name: string, tools: VolumeTools): Promise<VolumeAccess> {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const wanted = [...initContainers, ...containers].find((each) => each.name === name)?.volumeDevices ?? [];
  const volumes = usedVolumes(pod);
  const devices = [];
  for (const { name: volumeName, devicePath } of wanted) {
    const volume = volumes.find((each) => each.name === volumeName);
    if (volume === undefined)
      throw new Error(
        `cannot find volume ${JSON.stringify(volumeName)} to pass into container ${JSON.stringify(name)}`,
      );
    const kind = kindOf(volume.source);
    const permissions = kind.isReadOnly?.(volume) === true ? 'r' : 'mrw';
    devices.push({ containerPath: devicePath, hostPath: await kind.pathOf(volume, tools), permissions });
  }
  const groups = new Set<number>();
  for (const volume of volumes) {
    const group = await kindOf(volume.source).groupOf?.(volume, tools);
    if (group !== undefined) groups.add(group);
  }
  return { devices, groups: [...groups] };
}

/** The mounts of one container, in the order of its `volumeMounts`. */
export async function listMounts(pod: Pod, name: string, options: MountOptions): Promise<VolumeMount[]> {
  const container = listContainers(pod).find((each) => each.name === name);
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
  { tools, environment, images, supportsRecursiveReadOnly }: MountOptions,
): Promise<VolumeMount> {
  const volume = usedVolumes(pod).find(({ name }) => name === mount.name);
  if (volume === undefined)
    throw new Error(
      `cannot find volume ${JSON.stringify(mount.name)} to mount into container ${JSON.stringify(container)}`,
    );
  const kind = kindOf(volume.source);
  const path = subPathOf(mount, environment);
  const plain = {
    containerPath: mount.mountPath,
    isReadOnly: mount.readOnly === true || kind.isReadOnly?.(volume) === true,
    isRecursiveReadOnly: isRecursiveReadOnly(mount, supportsRecursiveReadOnly),
    propagation: propagationOf(mount),
  };
  if (kind.isImage === true) return { ...plain, hostPath: '', image: imageOf(mount, path, images) };
  const base = await kind.pathOf(volume, tools);
  const place = { uid: volume.uid, volume: volume.name, container, index };
  const hostPath =
    path === '' ? base : await bindSubPath({ ...place, base, path, isForeign: kind.isForeign }, tools);
  return { ...plain, hostPath };
}

function imageOf(
  { name }: Mount,
  subPath: string,
  images: ReadonlyMap<string, string>,
): NonNullable<VolumeMount['image']> {
  const id = images.get(name);
  if (id === undefined) throw new Error(`the image of volume ${JSON.stringify(name)} is not there yet`);
  return { id, subPath };
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
  const failed = 'failed to resolve recursive read-only mode';
  const asked = `${failed}: volume ${JSON.stringify(name)} requested recursiveReadOnly mode, but it is not`;
  if (readOnly !== true) throw new Error(`${asked} read-only`);
  if (mountPropagation !== 'None')
    throw new Error(`${asked} compatible with propagation ${JSON.stringify(mountPropagation)}`);
  if (wanted === 'IfPossible') return isSupported;
  if (wanted !== 'Enabled')
    throw new Error(`${failed}: unknown recursive read-only mode ${JSON.stringify(wanted)}`);
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
      throw new Error(`invalid MountPropagation mode: ${JSON.stringify(mountPropagation)}`);
  }
}
