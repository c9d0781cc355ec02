import type { FileHandle } from 'node:fs/promises';
import { link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describeError, ExitError, errorCode, exitCodes, syncFolder } from '../../../base/index.ts';

/** A file, 0600, that has its name only when it is whole; without `finish` nothing is left of it. */
export interface WholeFile extends AsyncDisposable {
  append(piece: Uint8Array): Promise<void>;
  /** Gives it its name, durably. Rejects where that is taken, unless `replace`. */
  finish(replace: boolean): Promise<void>;
}

export async function beginWholeFile(path: string): Promise<WholeFile> {
  const aside = join(dirname(path), `.${basename(path).slice(0, 150)}.${crypto.randomUUID()}.part`);
  const file = await open(aside, 'wx', 0o600).catch((error: unknown) => unwritable(path, error));
  return {
    append: (piece) => appendTo(file, piece).catch((error: unknown) => unwritable(path, error)),
    async finish(replace) {
      try {
        await file.sync();
        await (replace ? rename(aside, path) : link(aside, path));
        await syncFolder(dirname(path));
      } catch (error) {
        if (errorCode(error) !== 'EEXIST') unwritable(path, error);
        throw new ExitError(exitCodes.usage, `${path} is there already; replace it with --force`);
      }
    },
    async [Symbol.asyncDispose]() {
      await file.close();
      await rm(aside, { force: true });
    },
  };
}

async function appendTo(file: FileHandle, piece: Uint8Array): Promise<void> {
  await file.writeFile(piece);
}

function unwritable(path: string, cause: unknown): never {
  throw new ExitError(exitCodes.unwritable, `${path} cannot be written: ${describeError(cause)}`, { cause });
}
