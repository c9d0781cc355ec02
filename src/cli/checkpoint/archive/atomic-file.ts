import type { FileHandle } from 'node:fs/promises';
import { link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describeError, ExitError, errorCode, exitCodes, syncFolder } from '../../../base/index.ts';

/** A file, 0600, that gets its name only when it is complete; without `finish` nothing is left of it. */
export class AtomicFile implements AsyncDisposable {
  readonly #path: string;
  readonly #temporaryPath: string;
  readonly #file: FileHandle;

  private constructor(path: string, temporaryPath: string, file: FileHandle) {
    this.#path = path;
    this.#temporaryPath = temporaryPath;
    this.#file = file;
  }

  /** The caller disposes of it. */
  static async create(path: string): Promise<AtomicFile> {
    const temporaryPath = join(dirname(path), `.${basename(path).slice(0, 150)}.${crypto.randomUUID()}.part`);
    const file = await open(temporaryPath, 'wx', 0o600).catch((error: unknown) => fail(path, error));
    return new AtomicFile(path, temporaryPath, file);
  }

  async append(chunk: Uint8Array): Promise<void> {
    await this.#file.writeFile(chunk).catch((error: unknown) => fail(this.#path, error));
  }

  /** Gives it its name, durably. Throws an ExitError if there is a file, unless `replace`. */
  async finish(replace: boolean): Promise<void> {
    try {
      await this.#file.sync();
      await (replace ? rename(this.#temporaryPath, this.#path) : link(this.#temporaryPath, this.#path));
      await syncFolder(dirname(this.#path));
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') fail(this.#path, error);
      throw new ExitError(exitCodes.usage, `${this.#path} is there already; replace it with --force`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
    await rm(this.#temporaryPath, { force: true });
  }
}

function fail(path: string, cause: unknown): never {
  throw new ExitError(exitCodes.unwritable, `${path} cannot be written: ${describeError(cause)}`, { cause });
}
