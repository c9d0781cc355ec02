import { randomBytes } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from '../../../base/index.ts';
import type { ArchiveContents } from './contents.ts';
import { imageAnnotations } from './image-annotations.ts';
import type { MadeImage } from './image-layout.ts';
import { createLayoutWriter } from './image-layout.ts';
import { createArchiveReader } from './read-archive.ts';
import { ArchiveError } from './tar-walk.ts';

export interface ImageOptions {
  /** How the archive is called in errors. */
  readonly what: string;
  /** Where the layout is to be. */
  readonly output: string;
  /** Replace a file that is there, when the new one is complete; otherwise EEXIST. */
  readonly replace: boolean;
  /** The image's reference; default `localhost/checkpoint/NAMESPACE/POD/CONTAINER:TIME`. */
  readonly name: string | undefined;
  /** Of the runtime that made the archive; empty when it is not known. */
  readonly runtimeVersion: string;
}

export interface ImageOfCheckpoint extends MadeImage {
  readonly name: string;
  readonly contents: ArchiveContents;
}

/**
 * Makes an image of an archive, readable by its owner only: it holds the container's memory. Nothing is left of one that
 * could not be made. Throws an ArchiveError when the archive is none, or is not whole.
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
    const made = await fill(file, archive, options).finally(() => file.close());
    await (replace ? rename(temporary, output) : link(temporary, output));
    await syncFolder(dirname(output));
    return made;
  } finally {
    await rm(temporary, { force: true });
  }
}

async function fill(
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
  const name = asked ?? imageName(contents);
  const made = await writer.finish({
    name,
    architecture: architecture || 'amd64',
    created: checkpointedAt,
    annotations: imageAnnotations(contents, runtimeVersion),
  });
  await file.sync();
  return { ...made, name, contents };
}

const component = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const host = /^(?:[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)*|\[[0-9a-fA-F:]+\])(?::\d{1,5})?$/;

/** Whether the text names an image with a tag: `[HOST[:PORT]/]PATH:TAG`. */
export function isImageName(text: string): boolean {
  const [, path = '', tag = ''] = /^(.+):([^:/]+)$/s.exec(text) ?? [];
  if (text.length > 512 || !/^\w[\w.-]{0,127}$/.test(tag)) return false;
  const [first = '', ...rest] = path.split('/');
  return (
    rest.every((part) => component.test(part)) &&
    (component.test(first) || (rest.length > 0 && host.test(first)))
  );
}

function imageName({ container }: ArchiveContents): string {
  const { namespace, pod, name, checkpointedAt } = container;
  const tag = checkpointedAt.replace(/\.\d+/, '').replaceAll(/[^\dTZ]/g, '') || 'latest';
  const path = [namespace, pod, name].filter((part) => component.test(part)).join('/');
  return `localhost/checkpoint/${path === '' ? 'container' : path}:${tag}`;
}
