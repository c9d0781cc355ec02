import { chmod, lstat, mkdir } from 'node:fs/promises';
import type { Logger } from '../../base/index.ts';

/**
 * Makes sure that only this user can enter the folder at `path`: archives hold the memory of workloads. Creates it with
 * mode 0700, or sets that mode if this user owns it; otherwise throws an Error that says what is wrong.
 */
export async function preparePrivateFolder(path: string, log: Logger): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const facts = await lstat(path);
  if (!facts.isDirectory()) throw new Error(`${path} is not a folder; remove what is there`);
  const user = process.geteuid?.() ?? facts.uid;
  if (facts.uid !== user) {
    throw new Error(
      `${path} belongs to user ${facts.uid}, this process runs as user ${user}; change its owner`,
    );
  }
  if ((facts.mode & 0o077) === 0) return;
  await chmod(path, 0o700);
  const mode = (facts.mode & 0o777).toString(8).padStart(4, '0');
  log.warn({ folder: path, mode }, 'folder of checkpoints was open to others; its mode is 0700 now');
}
