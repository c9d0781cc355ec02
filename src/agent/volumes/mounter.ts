import type { Logger } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import type { Folder } from './folder.ts';
import type { MountEntry } from './mount-table.ts';
import { mountsIn } from './mount-table.ts';
import type { Tools } from './tools.ts';

const mountTimeoutMs = 30_000;
const unmountTimeoutMs = 10_000;

export interface MounterOptions {
  readonly tools: Tools;
  readonly log: Logger;
}

/** Mounts and unmounts, by the programs of util-linux in processes of their own. Paths are absolute and without links. */
export class Mounter {
  readonly #tools: Tools;
  readonly #log: Logger;

  constructor({ tools, log }: MounterOptions) {
    this.#tools = tools;
    this.#log = log;
  }

  /** `options` as in the table of mounts, such as `size=1024,mode=777`. */
  async mountTmpfs(path: string, options: string): Promise<void> {
    await this.#run(
      'mount',
      ['-n', '--no-canonicalize', '-t', 'tmpfs', '-o', options, 'tmpfs', path],
      mountTimeoutMs,
    );
  }

  /** Mounts the file system of that type that is on a device. */
  async mountDevice(device: string, path: string, type: string, options: readonly string[]): Promise<void> {
    const argv = ['-n', '-t', type, '-o', options.join(','), '--', device, path];
    await this.#run('mount', argv, mountTimeoutMs);
  }

  /** `source` is not resolved: `/proc/PID/fd/N` means the file that the descriptor stands for. */
  async bind(source: string, path: string, { isReadOnly = false } = {}): Promise<void> {
    const options = isReadOnly ? ['-o', 'ro'] : [];
    const argv = ['-n', '--no-canonicalize', '--bind', ...options, source, path];
    await this.#run('mount', argv, mountTimeoutMs);
  }

  /**
   * Unmounts everything at the folder and below it, the deepest first. What does not let go is logged and taken off the tree,
   * so that nothing waits for it. Rejects with what is left all the same.
   */
  async unmountAllIn(folder: string): Promise<void> {
    for (const { path } of mountsIn(folder)) await this.#unmount(path);
    const [left] = mountsIn(folder);
    if (left !== undefined) throw new Error(`${left.path} (${left.type}) is still mounted`);
  }

  async #unmount(path: string): Promise<void> {
    try {
      await this.#run('umount', ['-n', '--no-canonicalize', path], unmountTimeoutMs);
      return;
    } catch (error) {
      if (!isMountedAt(path)) return;
      this.#log.warn(
        `${describeError(error)}; it is taken off the tree, and ends when nothing uses it any more`,
      );
    }
    try {
      await this.#run('umount', ['-n', '--no-canonicalize', '--lazy', path], unmountTimeoutMs);
    } catch (error) {
      if (isMountedAt(path)) throw error;
    }
  }

  async #run(command: string, argv: readonly string[], timeoutMs: number): Promise<void> {
    const path = argv.at(-1) ?? '';
    let result: Awaited<ReturnType<Tools['run']>>;
    try {
      result = await this.#tools.run(command, argv, timeoutMs);
    } catch (error) {
      throw new Error(`${command} of ${path} failed: ${describeError(error)}`, { cause: error });
    }
    const { code, errors } = result;
    if (code !== 0) throw new Error(`${command} of ${path} failed: ${errors.trim() || `exit code ${code}`}`);
  }
}

export function isMountedAt(path: string): boolean {
  return mountsIn(path).some((entry: MountEntry) => entry.path === path);
}

/** Makes what something is to be mounted at: a folder or an empty file, whatever else was there before. */
export async function makeMountPoint(parent: Folder, name: string, isFolder: boolean): Promise<void> {
  if (isFolder) {
    await parent.unlink(name);
    await using _made = await parent.make(name, 0o750);
    return;
  }
  if (!(await parent.unlink(name))) await parent.rmdir(name);
  await parent.makeFile(name, 0o640);
}
