import { mkdir, readlink, rename, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../../base/index.ts';
import { logFolderMode, namesIn } from './paths.ts';

/*
 * The links by which collectors of logs find a container's log and know its names: NAME_NAMESPACE_CONTAINER-ID.log, as the
 * reference makes them.
 */

export interface LinkedLog {
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
  readonly containerId: string;
}

const maxNameBytes = 255;
const suffix = '.log';

/** Cut in front of its ending when it is too long for a file's name. */
export function logLinkName({ namespace, name, container, containerId }: LinkedLog): string {
  return `${`${name}_${namespace}_${container}-${containerId}`.slice(0, maxNameBytes - suffix.length)}${suffix}`;
}

/** Makes the link, in place of one that leads elsewhere, and the folder. */
export async function linkLog(linksDir: string, linked: LinkedLog, logPath: string): Promise<void> {
  const link = join(linksDir, logLinkName(linked));
  if ((await targetOf(link)) === logPath) return;
  await mkdir(linksDir, { recursive: true, mode: logFolderMode });
  const temporary = join(linksDir, `.${crypto.randomUUID()}.tmp`);
  await symlink(logPath, temporary);
  await rename(temporary, link);
}

/** One that is not there is no error. */
export async function unlinkLog(linksDir: string, linked: LinkedLog): Promise<void> {
  await removeLink(join(linksDir, logLinkName(linked)));
}

/**
 * Removes the links to logs below `logsDir` for whose containers `isKnown` is false, and what an agent left of one that it was
 * making. Links that lead elsewhere are of others. Returns the names that were removed.
 */
export async function pruneLogLinks(
  linksDir: string,
  logsDir: string,
  isKnown: (linkName: string) => boolean,
): Promise<string[]> {
  const removed: string[] = [];
  for (const name of await namesIn(linksDir)) {
    const isOurs = name.endsWith(suffix) || /^\.[0-9a-f-]{36}\.tmp$/.test(name);
    if (!isOurs || isKnown(name)) continue;
    const target = await targetOf(join(linksDir, name));
    if (target === undefined || !target.startsWith(`${logsDir}/`)) continue;
    await removeLink(join(linksDir, name));
    removed.push(name);
  }
  return removed;
}

/** Undefined where there is none, or something else. */
async function targetOf(link: string): Promise<string | undefined> {
  try {
    return await readlink(link);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'EINVAL') return undefined;
    throw error;
  }
}

async function removeLink(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}
