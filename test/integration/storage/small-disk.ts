import type { FileHandle } from 'node:fs/promises';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../../src/base/index.ts';
import type { SupervisedProcess } from '../../support/index.ts';
import { startProcess } from '../../support/index.ts';

/** A small file system at a folder, which only those who enter it see. Needs root. Disposal ends it. */
export interface SmallDisk extends AsyncDisposable {
  /** What runs a command that sees it. */
  readonly enter: readonly string[];
  /** The path of a file on it as this process sees it. */
  path(...names: readonly string[]): string;
  /** Takes all room that there is. */
  fill(): Promise<void>;
  /** Gives some of that back. */
  free(bytes: number): Promise<void>;
}

export async function mountSmallDisk(folder: string, mebibytes: number): Promise<SmallDisk> {
  await mkdir(folder, { mode: 0o700 });
  const script = 'mount -t tmpfs -o mode=700,size="$1"m small "$2" && echo mounted && exec sleep infinity';
  const argv = ['--mount', 'sh', '-c', script, 'sh', String(mebibytes), folder];
  const holder = await startProcess('unshare', argv);
  await holder.waitForOutput(/^mounted$/m);
  return new Tmpfs(holder, folder);
}

class Tmpfs implements SmallDisk {
  readonly enter: readonly string[];
  readonly #holder: SupervisedProcess;
  readonly #folder: string;
  #filler: FileHandle | undefined;
  #filled = 0;

  constructor(holder: SupervisedProcess, folder: string) {
    this.#holder = holder;
    this.#folder = folder;
    this.enter = ['nsenter', `--mount=/proc/${holder.pid}/ns/mnt`];
  }

  path(...names: readonly string[]): string {
    return join(`/proc/${this.#holder.pid}/root`, this.#folder, ...names);
  }

  async fill(): Promise<void> {
    this.#filler ??= await open(this.path('filler'), 'w');
    for (const piece of [1024 * 1024, 4096]) {
      const bytes = Buffer.alloc(piece, 1);
      while (await this.#add(this.#filler, bytes));
    }
  }

  async free(bytes: number): Promise<void> {
    this.#filled = Math.max(0, this.#filled - bytes);
    await this.#filler?.truncate(this.#filled);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#filler?.close();
    await this.#holder.kill9();
  }

  async #add(file: FileHandle, bytes: Buffer): Promise<boolean> {
    try {
      const { bytesWritten } = await file.write(bytes, 0, bytes.length, this.#filled);
      this.#filled += bytesWritten;
      return bytesWritten === bytes.length;
    } catch (error) {
      if (errorCode(error) !== 'ENOSPC') throw error;
      return false;
    }
  }
}
