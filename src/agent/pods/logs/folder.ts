import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { relative } from 'node:path';

/** A folder that is held by a descriptor: what others put in its place or above it does not count. */
export interface HeldFolder extends AsyncDisposable {
  /** The path of a name in it, good while it is held. */
  at(name: string): string;
  /** Of itself. */
  readonly path: string;
}

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Opens the folder `names` below `root`, each step without following a link; `root` itself may be one. */
export async function openFolderBelow(root: string, names: readonly string[]): Promise<HeldFolder> {
  let held = await open(root, constants.O_RDONLY | constants.O_DIRECTORY);
  for (const name of names) {
    const above = held;
    try {
      held = await open(`/proc/self/fd/${above.fd}/${name}`, folderFlags);
    } finally {
      await above.close();
    }
  }
  return toHeld(held);
}

function toHeld(handle: FileHandle): HeldFolder {
  const path = `/proc/self/fd/${handle.fd}`;
  return {
    path: `${path}/`,
    at: (name) => `${path}/${name}`,
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

/** Where a log is: the folders below `logsDir`, and its name. Undefined for one that is not a container's log below it. */
export function placeOfLog(
  logsDir: string,
  logPath: string,
): { readonly folders: readonly [string, string]; readonly log: string } | undefined {
  const [pod, container, log, ...rest] = relative(logsDir, logPath).split('/');
  if (pod === undefined || container === undefined || log === undefined || rest.length > 0) return undefined;
  if (!/^\d+\.log$/.test(log) || [pod, container].some((name) => /^\.{0,2}$/.test(name))) return undefined;
  return { folders: [pod, container], log };
}
