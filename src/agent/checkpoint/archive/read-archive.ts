/**
 * Reads the archive of a checkpoint as a stream: nothing is extracted, the memory of the processes is only counted, the
 * time depends only on the size of the archive, and memory is bounded (limits.ts).
 */
import type { ChangedFilesReader } from './changed-files.ts';
import { createChangedFilesReader, noChangedFiles } from './changed-files.ts';
import { readContainerFacts } from './container.ts';
import type { ArchiveContents } from './contents.ts';
import { createImageData } from './image-data.ts';
import { createImageSink } from './images.ts';
import { limits } from './limits.ts';
import { createMetadata, createMetadataSink, readAnnotations, readEnvironment } from './metadata.ts';
import { createNotes } from './notes.ts';
import { composeProcesses } from './processes.ts';
import type { EntrySink, TarEntry } from './tar-walk.ts';
import { ArchiveError, walkTar } from './tar-walk.ts';

interface ReadOptions {
  /** The name of the archive in errors. */
  readonly what: string;
  /** Whether to keep the values of environment variables, which may be secrets; default false. */
  readonly environmentValues?: boolean;
}

export interface ArchiveReader {
  /** Takes the next bytes; must be awaited before the next call. Throws an ArchiveError for what is no tar archive. */
  push(chunk: Uint8Array): Promise<void>;
  /** Returns the content. Throws an ArchiveError when it is not that of a checkpoint. */
  end(): Promise<ArchiveContents>;
}

const imageFolder = 'checkpoint/';
const logNames: ReadonlySet<string> = new Set(['container.log', 'io.kubernetes.cri-o.LogPath']);
const pagesPattern = /^checkpoint\/pages-[\w-]+\.img$/;

export async function createArchiveReader({
  what,
  environmentValues = false,
}: ReadOptions): Promise<ArchiveReader> {
  const notes = createNotes();
  const images = createImageData(notes);
  const metadata = createMetadata();
  const changed = await createChangedFilesReader(notes, images.budget);
  const visited = new Set<string>();
  const counts = { files: 0, pagesBytes: 0, logBytes: 0, bytes: 0 };

  function visit(entry: TarEntry): EntrySink | undefined {
    const { name, bytes, type } = entry;
    if (type !== 'file') return undefined;
    counts.files++;
    if (pagesPattern.test(name)) counts.pagesBytes += bytes;
    if (logNames.has(name)) counts.logBytes += bytes;
    const sink = findSink(name, changed);
    if (sink === undefined) return undefined;
    if (visited.has(name)) {
      notes.add(`${name} is there twice; the first counts`);
      return undefined;
    }
    visited.add(name);
    return sink;
  }

  function findSink(name: string, changes: ChangedFilesReader): EntrySink | undefined {
    if (name === 'rootfs-diff.tar') return changes;
    if (name.startsWith(imageFolder)) return createImageSink(name.slice(imageFolder.length), images);
    return createMetadataSink(name, metadata, notes);
  }

  const walk = await walkTar({ what, maxEntries: limits.entries, notes, visit });
  return {
    async push(chunk) {
      counts.bytes += chunk.length;
      if (!walk.open) return;
      walk.push(chunk);
      await changed.settled();
    },
    async end() {
      const { whole } = walk.end();
      await changed.settled();
      if (images.tree.size === 0 && !metadata.known) {
        const why = notes.list()[0];
        throw new ArchiveError(
          `${what} is no checkpoint of a container${why === undefined ? '' : ` (${why})`}`,
        );
      }
      return composeContents(whole);
    },
  };

  function composeContents(whole: boolean): ArchiveContents {
    const { budget, machine, mounts, imageVersion } = images;
    const annotations = readAnnotations(metadata, budget);
    const { frozenMs, criuVersion } = metadata;
    if (!visited.has('checkpoint/pstree.img'))
      notes.add('checkpoint/pstree.img, the tree of processes, is missing');
    return {
      archive: { bytes: counts.bytes, files: counts.files, pagesBytes: counts.pagesBytes, whole },
      container: readContainerFacts(metadata, annotations, machine),
      criu: { version: criuVersion, imageVersion, ...(frozenMs === undefined ? {} : { frozenMs }) },
      processes: composeProcesses(images),
      mounts: mounts.sort((a, b) => (a.mountpoint < b.mountpoint ? -1 : 1)),
      environment: readEnvironment(metadata, environmentValues, budget),
      annotations,
      logBytes: counts.logBytes,
      changedFiles: visited.has('rootfs-diff.tar') ? changed.result() : noChangedFiles,
      notes: notes.list(),
    };
  }
}
