/** rootfs-diff.tar: a layer with the differences from the image. containerd compresses it, in spite of its name. */
import type { Gunzip } from 'node:zlib';
import { createGunzip } from 'node:zlib';
import { describeError } from '../../../base/index.ts';
import type { Budget } from './budget.ts';
import type { ChangedFiles } from './contents.ts';
import { limits } from './limits.ts';
import type { Notes } from './notes.ts';
import type { EntrySink, TarEntry } from './tar-walk.ts';
import { walkTar } from './tar-walk.ts';

export interface ChangedFilesReader extends EntrySink {
  /** Resolves when everything that was pushed has been read; never rejects. Only then may more be pushed. */
  settled(): Promise<void>;
  result(): ChangedFiles;
}

const what = 'rootfs-diff.tar';

export async function createChangedFilesReader(notes: Notes, budget: Budget): Promise<ChangedFilesReader> {
  const found = collectFiles(budget);
  const walk = await walkTar({ what, maxEntries: limits.changedFiles, notes, visit: found.visit });
  const waiting: Buffer[] = [];
  let unpacker: Gunzip | undefined;
  let begun = false;
  let ended = false;
  let failed = false;
  let packed = 0;

  const giveUp = (why: string): void => {
    if (!failed) notes.add(`${what} is not understood: ${why}`);
    failed = true;
    unpacker?.destroy();
  };
  const guarded = (work: () => void): void => {
    if (failed) return;
    try {
      work();
    } catch (error) {
      giveUp(describeError(error));
    }
  };

  function begin(first: Buffer): void {
    begun = true;
    if (first[0] !== 0x1f || first[1] !== 0x8b) return;
    unpacker = createGunzip({ chunkSize: 256 * 1024 });
    let bytes = 0;
    unpacker.on('error', (error) => giveUp(describeError(error)));
    unpacker.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (isTooMuch(bytes, packed)) return giveUp(`it has ${bytes} bytes unpacked, and more`);
      guarded(() => walk.push(chunk));
      if (!walk.open) unpacker?.destroy();
    });
  }

  return {
    push(chunk) {
      packed += chunk.length;
      if (!failed && walk.open && chunk.length > 0) waiting.push(Buffer.from(chunk));
    },
    end() {
      ended = true;
    },
    async settled() {
      for (const chunk of waiting.splice(0)) {
        if (!begun) begin(chunk);
        if (unpacker === undefined) guarded(() => walk.push(chunk));
        else await writeChunk(unpacker, chunk);
      }
      if (!ended || failed) return;
      ended = false;
      if (unpacker !== undefined) await finish(unpacker);
      if (begun) guarded(() => void walk.end());
    },
    result: found.result,
  };
}

function isTooMuch(bytes: number, packed: number): boolean {
  return bytes > limits.changedBytes || (bytes > limits.bombBytes && bytes > packed * limits.bombRatio);
}

/** Also resolves when the unpacker has ended or was destroyed. */
function writeChunk(unpacker: Gunzip, chunk: Buffer): Promise<void> {
  if (unpacker.destroyed || unpacker.writableEnded) return Promise.resolve();
  return waitForUnpacker(unpacker, (done) => unpacker.write(chunk, () => done()));
}

function finish(unpacker: Gunzip): Promise<void> {
  if (unpacker.destroyed || unpacker.readableEnded) return Promise.resolve();
  return waitForUnpacker(unpacker, (done) => {
    unpacker.once('end', done);
    unpacker.end();
  });
}

function waitForUnpacker(unpacker: Gunzip, begin: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      unpacker.off('close', done);
      resolve();
    };
    unpacker.once('close', done);
    begin(done);
  });
}

function collectFiles(budget: Budget): { visit: (entry: TarEntry) => undefined; result: () => ChangedFiles } {
  const kept: { path: string; bytes: number }[] = [];
  const removed: string[] = [];
  let [files, total] = [0, 0];
  const keep = (path: string, bytes: number): void => {
    kept.push({ path, bytes });
    // drops the smaller half at once, so that sorting costs little for each file
    if (kept.length >= 2 * limits.changedNames) kept.sort(compareBySize).splice(limits.changedNames);
  };
  return {
    visit({ name, bytes, type }) {
      const gone = /^(.*\/)?\.wh\.(.+)$/.exec(name);
      if (gone !== null) {
        const path = gone[2] === '.wh..opq' ? `${gone[1] ?? ''}*` : `${gone[1] ?? ''}${gone[2]}`;
        if (removed.length < limits.changedNames) removed.push(`/${budget.keepText(path)}`);
      } else if (type === 'file') {
        [files, total] = [files + 1, total + bytes];
        keep(`/${name.slice(0, limits.changedNameLength)}`, bytes);
      }
      return undefined;
    },
    result: () => ({
      files,
      bytes: total,
      largest: kept.sort(compareBySize).slice(0, limits.changedNames),
      removed: removed.sort(),
    }),
  };
}

const compareBySize = (a: { path: string; bytes: number }, b: { path: string; bytes: number }): number =>
  b.bytes - a.bytes || (a.path < b.path ? -1 : 1);

export const noChangedFiles: ChangedFiles = { files: 0, bytes: 0, largest: [], removed: [] };
