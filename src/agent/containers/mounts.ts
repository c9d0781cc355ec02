import { posix } from 'node:path';
import type { AnyContainer } from '../downward/index.ts';
import type { VolumeMount } from '../volumes/index.ts';
import { messagePathOf } from './labels.ts';
import type { IdMapping } from './namespaces.ts';
import { mappingsOf } from './namespaces.ts';
import type { ContainerInput } from './types.ts';

/** By the numbers of the CRI. */
const propagations = { None: 0, HostToContainer: 1, Bidirectional: 2 } as const;
const hostsPath = '/etc/hosts';

interface Mount {
  containerPath: string;
  hostPath: string;
  readonly: boolean;
  selinuxRelabel: boolean;
  propagation: 0 | 1 | 2;
  recursiveReadOnly: boolean;
  uidMappings: IdMapping[];
  gidMappings: IdMapping[];
  image?: { image: string };
  imageSubPath?: string;
}

type PlainMount = Omit<Mount, 'uidMappings' | 'gidMappings'>;

/** Those of devices, of volumes, and the pod's own files, unless the container mounts something there itself. */
export function mountsOf(input: ContainerInput, container: AnyContainer): Mount[] {
  const mounts: PlainMount[] = [...input.devices.mounts.map(ofDevice), ...input.mounts.map(ofVolume)];
  const { hostsFile, messageFile, userIds } = input;
  if (hostsFile !== undefined && !hasMountAt(mounts, hostsPath)) mounts.push(ofOwnFile(hostsPath, hostsFile));
  if (messageFile !== undefined) mounts.push(ofOwnFile(absolute(messagePathOf(container)), messageFile));
  const mappings = userIds === undefined ? [] : mappingsOf(userIds);
  return mounts.map((mount) => ({ ...mount, uidMappings: mappings, gidMappings: mappings }));
}

function hasMountAt(mounts: readonly PlainMount[], path: string): boolean {
  return mounts.some(({ containerPath }) => posix.normalize(containerPath).replace(/(.)\/$/, '$1') === path);
}

function ofDevice({
  containerPath,
  hostPath,
  isReadOnly,
}: ContainerInput['devices']['mounts'][number]): PlainMount {
  return { ...plain, containerPath: absolute(containerPath), hostPath, readonly: isReadOnly };
}

function ofVolume(mount: VolumeMount): PlainMount {
  const { image } = mount;
  return {
    ...plain,
    containerPath: absolute(mount.containerPath),
    hostPath: image === undefined ? mount.hostPath : '',
    readonly: mount.isReadOnly,
    propagation: propagations[mount.propagation],
    recursiveReadOnly: mount.isRecursiveReadOnly,
    ...(image === undefined ? {} : { image: { image: image.id }, imageSubPath: image.subPath }),
  };
}

/** With SELinux the container could not open it under the label of the host's files. */
function ofOwnFile(containerPath: string, hostPath: string): PlainMount {
  return { ...plain, containerPath, hostPath, selinuxRelabel: true };
}

const plain = {
  readonly: false,
  selinuxRelabel: false,
  propagation: propagations.None,
  recursiveReadOnly: false,
};

function absolute(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}
