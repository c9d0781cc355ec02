/**
 * Reads the archive of a checkpoint while it passes by: nothing is unpacked, the memory of the processes is only counted,
 * and neither memory nor time depend on more than the archive's size (limits.ts).
 */
import type { ChangedFilesReader } from './changed-files.ts';
import { noChangedFiles, readChangedFiles } from './changed-files.ts';
import { containerIn } from './container.ts';
import type { ArchiveContents } from './contents.ts';
import { annotationsIn, createDocuments, documentSink, environmentIn } from './documents.ts';
import { createHarvest } from './harvest.ts';
import { imageSink } from './images.ts';
import { limits } from './limits.ts';
import { createNotes } from './notes.ts';
import { processesIn } from './processes.ts';
import type { EntrySink, TarEntry } from './tar-walk.ts';
import { ArchiveError, walkTar } from './tar-walk.ts';

export interface ReadOptions {
  /** How the archive is called in errors. */
  readonly what: string;
  /** Keep the values of the environment, which may be secrets; default false. */
  readonly environmentValues?: boolean;
}

export interface ArchiveReader {
  /** The next bytes, in order; to be awaited before the next. Throws an ArchiveError for what is no tar archive. */
  push(chunk: Uint8Array): Promise<void>;
  /** What was in it. Throws an ArchiveError when that is no checkpoint. */
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
  const harvest = createHarvest(notes);
  const documents = createDocuments();
  const changed = await readChangedFiles(notes, harvest.budget);
  const seen = new Set<string>();
  const counts = { files: 0, pagesBytes: 0, logBytes: 0, bytes: 0 };

  function visit(entry: TarEntry): EntrySink | undefined {
    const { name, bytes, type } = entry;
    if (type !== 'file') return undefined;
    counts.files++;
    if (pagesPattern.test(name)) counts.pagesBytes += bytes;
    if (logNames.has(name)) counts.logBytes += bytes;
    const sink = sinkFor(name, changed);
    if (sink === undefined) return undefined;
    if (seen.has(name)) {
      notes.add(`${name} is there twice; the first counts`);
      return undefined;
    }
    seen.add(name);
    return sink;
  }

  function sinkFor(name: string, changes: ChangedFilesReader): EntrySink | undefined {
    if (name === 'rootfs-diff.tar') return changes;
    if (name.startsWith(imageFolder)) return imageSink(name.slice(imageFolder.length), harvest);
    return documentSink(name, documents, notes);
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
      if (harvest.tree.size === 0 && !documents.known) {
        const why = notes.list()[0];
        throw new ArchiveError(
          `${what} is no checkpoint of a container${why === undefined ? '' : ` (${why})`}`,
        );
      }
      return contents(whole);
    },
  };

  function contents(whole: boolean): ArchiveContents {
    const { budget, machine, mounts, imageVersion } = harvest;
    const annotations = annotationsIn(documents, budget);
    const { frozenMs, criuVersion } = documents;
    if (!seen.has('checkpoint/pstree.img'))
      notes.add('checkpoint/pstree.img, the tree of processes, is missing');
    return {
      archive: { bytes: counts.bytes, files: counts.files, pagesBytes: counts.pagesBytes, whole },
      container: containerIn(documents, annotations, machine),
      criu: { version: criuVersion, imageVersion, ...(frozenMs === undefined ? {} : { frozenMs }) },
      processes: processesIn(harvest),
      mounts: mounts.sort((a, b) => (a.mountpoint < b.mountpoint ? -1 : 1)),
      environment: environmentIn(documents, environmentValues, budget),
      annotations,
      logBytes: counts.logBytes,
      changedFiles: seen.has('rootfs-diff.tar') ? changed.result() : noChangedFiles,
      notes: notes.list(),
    };
  }
}
