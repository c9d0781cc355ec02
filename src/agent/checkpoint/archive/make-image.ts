import { randomBytes } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isImagePathPart } from '../../../api/index.ts';
import { syncFolder } from '../../../base/index.ts';
import type { ArchiveContents } from './contents.ts';
import type { MadeImage } from './image-layout.ts';
import { createLayoutWriter } from './image-layout.ts';
import { createArchiveReader } from './read-archive.ts';
import { ArchiveError } from './tar-walk.ts';

interface ImageOptions {
  /** The name of the archive in errors. */
  readonly what: string;
  /** The path of the layout. */
  readonly output: string;
  /** Whether to replace an existing file, once the new one is complete; otherwise rejects with EEXIST. */
  readonly replace: boolean;
  /** The image's reference; default `localhost/checkpoint/NAMESPACE/POD/CONTAINER:TIME`. */
  readonly name: string | undefined;
  /** The version of the runtime that made the archive; empty when it is not known. */
  readonly runtimeVersion: string;
}

export interface ImageOfCheckpoint extends MadeImage {
  readonly name: string;
  readonly contents: ArchiveContents;
}

/**
 * Makes an image of an archive, readable by its owner only: it holds the container's memory. Leaves nothing behind when
 * it fails. Throws an ArchiveError when the archive is not that of a checkpoint, or is not complete.
 */
export async function makeImage(
  archive: AsyncIterable<Uint8Array>,
  options: ImageOptions,
): Promise<ImageOfCheckpoint> {
  const { output, replace } = options;
  const temporary = join(
    dirname(output),
    `.${basename(output).slice(0, 150)}.${randomBytes(8).toString('hex')}.tmp`,
  );
  const file = await open(temporary, 'wx', 0o600);
  try {
    const made = await writeImage(file, archive, options).finally(() => file.close());
    await (replace ? rename(temporary, output) : link(temporary, output));
    await syncFolder(dirname(output));
    return made;
  } finally {
    await rm(temporary, { force: true });
  }
}

async function writeImage(
  file: FileHandle,
  archive: AsyncIterable<Uint8Array>,
  { what, name: asked, runtimeVersion }: ImageOptions,
): Promise<ImageOfCheckpoint> {
  const [reader, writer] = await Promise.all([createArchiveReader({ what }), createLayoutWriter(file)]);
  for await (const chunk of archive) {
    await reader.push(chunk);
    await writer.push(chunk);
  }
  const contents = await reader.end();
  if (!contents.archive.whole) throw new ArchiveError(`${what} is not whole: ${contents.notes.join('; ')}`);
  const { architecture, checkpointedAt } = contents.container;
  const name = asked ?? composeImageName(contents);
  const made = await writer.finish({
    name,
    architecture: architecture || 'amd64',
    created: checkpointedAt,
    annotations: composeAnnotations(contents, runtimeVersion),
  });
  await file.sync();
  return { ...made, name, contents };
}

function composeImageName({ container }: ArchiveContents): string {
  const { namespace, pod, name, checkpointedAt } = container;
  const tag = checkpointedAt.replace(/\.\d+/, '').replaceAll(/[^\dTZ]/g, '') || 'latest';
  const path = [namespace, pod, name].filter(isImagePathPart).join('/');
  return `localhost/checkpoint/${path === '' ? 'container' : path}:${tag}`;
}

/** The annotations by which containerd, in the manifest, and CRI-O recognise an image to restore rather than to start. */
const containerName = 'org.criu.checkpoint.container.name';
const crioContainerName = 'io.kubernetes.cri-o.annotations.checkpoint.name';

/** The annotations of the image of a checkpoint; those that the archive has no value for are left out. */
function composeAnnotations(
  { container, criu }: ArchiveContents,
  runtimeVersion: string,
): Record<string, string> {
  const { name, pod, namespace, podUid, image, imageRef, checkpointedAt, architecture } = container;
  const all = {
    // without it the image would be started, not restored
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
