import { readlink, rename, stat, symlink, unlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { errorCode } from '../../../base/index.ts';
import { makeLogFolder, namesIn, parsePodLogFolder } from './paths.ts';

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
  if ((await tryToLink(linksDir, link, logPath)) || (await targetOf(link)) === logPath) return;
  const temporary = join(linksDir, `.${crypto.randomUUID()}.tmp`);
  await symlink(logPath, temporary);
  await rename(temporary, link);
}

/** Returns false where something of that name is. */
async function tryToLink(linksDir: string, link: string, logPath: string): Promise<boolean> {
  try {
    await symlink(logPath, link);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  await makeLogFolder(linksDir);
  return false;
}

/** One that is not there is no error. */
export async function unlinkLog(linksDir: string, linked: LinkedLog): Promise<void> {
  await removeLink(join(linksDir, logLinkName(linked)));
}

export interface Pruning {
  readonly linksDir: string;
  readonly logsDir: string;
  /** Whether the runtime has the container of this link. */
  isKnown(linkName: string): boolean;
  /** Whether the pod is this agent's, even when nothing else of it is left. */
  isOwn(podUid: string): Promise<boolean>;
}

/**
 * Removes the links into `logsDir` of containers that are not known: those of this agent's own pods, and those that lead to no log
 * any more. Others may be of another agent's containers. Returns the names that were removed.
 */
export async function pruneLogLinks({ linksDir, logsDir, isKnown, isOwn }: Pruning): Promise<string[]> {
  const removed: string[] = [];
  for (const name of await namesIn(linksDir)) {
    const isOurs = name.endsWith(suffix) || /^\.[0-9a-f-]{36}\.tmp$/.test(name);
    if (!isOurs || isKnown(name)) continue;
    const target = await targetOf(join(linksDir, name));
    if (target === undefined || !target.startsWith(`${logsDir}/`)) continue;
    if ((await exists(target)) && !(await isOwn(podUidIn(logsDir, target)))) continue;
    await removeLink(join(linksDir, name));
    removed.push(name);
  }
  return removed;
}

/** Of the pod whose log this is; empty for none. */
function podUidIn(logsDir: string, logPath: string): string {
  const [folder = ''] = relative(logsDir, logPath).split('/');
  return parsePodLogFolder(folder)?.uid ?? '';
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

/** Only what is known not to be there is not. */
async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    (error: unknown) => errorCode(error) !== 'ENOENT',
  );
}

async function removeLink(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}
