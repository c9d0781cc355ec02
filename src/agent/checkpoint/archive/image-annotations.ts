import type { ArchiveContents } from './contents.ts';

/** By these an image to restore is told from one to start: by containerd, which looks at the manifest, and by CRI-O. */
const containerName = 'org.criu.checkpoint.container.name';
const crioContainerName = 'io.kubernetes.cri-o.annotations.checkpoint.name';

/** The annotations of an image that is made of a checkpoint; what the archive does not tell is left out. */
export function imageAnnotations(
  { container, criu }: ArchiveContents,
  runtimeVersion: string,
): Record<string, string> {
  const { name, pod, namespace, podUid, image, imageRef, checkpointedAt, architecture } = container;
  const all = {
    // an image without it would be started, not restored
    [containerName]: name || 'container',
    [crioContainerName]: name || 'container',
    'org.criu.checkpoint.pod.name': pod,
    'org.criu.checkpoint.pod.namespace': namespace,
    'org.criu.checkpoint.pod.uid': podUid,
    'org.criu.checkpoint.rootfsImageName': image,
    'org.criu.checkpoint.rootfsImageUserRequested': imageRef,
    'org.criu.checkpoint.criu.version': criu.version,
    'org.criu.checkpoint.engine.version': runtimeVersion,
    'org.criu.checkpoint.host.arch': architecture,
    'org.opencontainers.image.created': checkpointedAt,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
}
