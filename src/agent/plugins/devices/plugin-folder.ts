import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';

/**
 * Removes the sockets that are in the folder, links to sockets too:
 * they belong to plugins that were registered with an agent before, and their absence together with the agent's new
 * socket is how plugins see that they have to register again. Nothing else is touched. A socket that cannot be removed is
 * logged; rejects where the folder cannot be read.
 */
export async function cleanPluginFolder(folder: string, log: Logger): Promise<void> {
  const removed: string[] = [];
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found?.isSocket() !== true) continue;
    try {
      await rm(path);
      removed.push(name);
    } catch (error) {
      log.warn(`the socket of an earlier device plugin stays: ${describeError(error)}`);
    }
  }
  if (removed.length > 0)
    log.info({ folder, removed: removed.length }, 'sockets of earlier device plugins removed');
}
