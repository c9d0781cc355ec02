import { readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand, waitFor } from '../../support/index.ts';

/** A block device whose content is a file. */
export interface LoopDevice extends AsyncDisposable {
  readonly path: string;
  readonly file: string;
  /** Detaches it; rejects where something still holds it after a while. */
  detached(): Promise<void>;
}

/** Needs root. The device is of the whole machine; disposal detaches it. */
export async function loopDevice(file: string, sizeBytes = 16 * 2 ** 20): Promise<LoopDevice> {
  await writeFile(file, '');
  await truncate(file, sizeBytes);
  const path = await losetup(['--find', '--show', file]);
  return {
    ...{ path, file },
    async detached() {
      await losetup(['--detach', path]);
      await waitFor(`${path} to be free`, async () => !(await isAttached(file)));
    },
    async [Symbol.asyncDispose]() {
      if (await isAttached(file)) await losetup(['--detach', path]);
    },
  };
}

async function losetup(argv: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand('losetup', argv);
  if (code !== 0) throw new Error(`losetup ${argv.join(' ')}: ${stderr}`);
  return stdout.trim();
}

/** By what the kernel says, which goes on as long as the device is open or mounted. */
async function isAttached(file: string): Promise<boolean> {
  for (const name of await readdir('/sys/block')) {
    const backing = join('/sys/block', name, 'loop/backing_file');
    if (name.startsWith('loop') && (await readFile(backing, 'utf8').catch(() => '')).trim() === file)
      return true;
  }
  return false;
}
