import { createReadStream } from 'node:fs';
import { link, open, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { SnapshotReader } from '../../apiserver/storage-admin/index.ts';
import { describeError, ExitError, errorCode, exitCodes, syncFolder } from '../../base/index.ts';

interface SavedSnapshot {
  readonly file: string;
  readonly revision: number;
  readonly objects: number;
  readonly bytes: number;
}

/** Reads a snapshot and compares it with its checksum. */
type OpenSnapshot = (chunks: AsyncIterable<Uint8Array>, name: string) => Promise<SnapshotReader>;

/**
 * Writes a snapshot to a new file, 0600. The file exists only if the whole snapshot is on disk and has been read back.
 * Never replaces a file. Throws an ExitError that says what to do.
 */
export async function saveSnapshot(
  file: string,
  chunks: AsyncIterable<Uint8Array>,
  read: OpenSnapshot,
): Promise<SavedSnapshot> {
  await checkAbsent(file);
  const name = `.${basename(file).slice(0, 50)}.${process.pid}.${crypto.randomUUID()}.tmp`;
  const temporary = join(dirname(file), name);
  try {
    const bytes = await writeAll(temporary, chunks);
    const snapshot = await read(createReadStream(temporary), file);
    let objects = 0;
    for await (const _object of snapshot.objects()) objects++;
    await publish(temporary, file);
    return { file, revision: snapshot.header.revision, objects, bytes };
  } finally {
    await rm(temporary, { force: true });
  }
}

async function checkAbsent(file: string): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (found !== undefined) throw existsError(file);
}

async function writeAll(temporary: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  await using file = await open(temporary, 'wx', 0o600).catch((error: unknown) => {
    throw unwritableError(temporary, error);
  });
  let bytes = 0;
  for await (const chunk of chunks) {
    await file.writeFile(chunk).catch((error: unknown) => {
      throw unwritableError(temporary, error);
    });
    bytes += chunk.byteLength;
  }
  await file.sync();
  return bytes;
}

/** Uses a link, which fails if the file exists; a rename would replace it. */
async function publish(temporary: string, file: string): Promise<void> {
  try {
    await link(temporary, file);
  } catch (error) {
    throw errorCode(error) === 'EEXIST' ? existsError(file) : unwritableError(file, error);
  }
  await syncFolder(dirname(file));
}

function existsError(file: string): ExitError {
  return new ExitError(exitCodes.failed, `${file} is there already and is not replaced; choose another name`);
}

function unwritableError(file: string, error: unknown): ExitError {
  const message = `cannot write the snapshot in ${dirname(file)}: ${describeError(error)}; choose another place`;
  return new ExitError(exitCodes.unwritable, message, { cause: error });
}
