import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '../../../base/index.ts';

/*
 * Where logs are, as the reference lays them: LOGS/NAMESPACE_NAME_UID/CONTAINER/ATTEMPT.log, and beside it what was rotated,
 * ATTEMPT.log.YYYYMMDD-hhmmss, with `.gz` once it is compressed.
 */

export interface LoggedPod {
  readonly namespace: string;
  readonly name: string;
  /** Of a static pod without a uid of its own, the hash of its manifest. */
  readonly uid: string;
}

/** The folder of the logs of a pod; throws where a part of its name could lead elsewhere. */
export function podLogFolder(logsDir: string, { namespace, name, uid }: LoggedPod): string {
  return join(logsDir, checkName(`${namespace}_${name}_${uid}`));
}

export function containerLogFolder(logsDir: string, pod: LoggedPod, container: string): string {
  return join(podLogFolder(logsDir, pod), checkName(container));
}

export function containerLogPath(
  logsDir: string,
  pod: LoggedPod,
  container: string,
  attempt: number,
): string {
  return join(containerLogFolder(logsDir, pod, container), `${attempt}.log`);
}

/** As the reference's, so that collectors of logs, which are not root, come in. */
const logFolderMode = 0o755;

/** Makes a folder of logs and those above it; what is there stays as it is. The umask has no part in it. */
export async function makeLogFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: logFolderMode });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) await chmod(made, logFolderMode);
}

/** To be made before the container, since the runtime would make it by a mode of its own. Returns its path. */
export async function makeContainerLogFolder(
  logsDir: string,
  pod: LoggedPod,
  container: string,
): Promise<string> {
  const folder = containerLogFolder(logsDir, pod, container);
  await makeLogFolder(folder);
  return folder;
}

/** The folder's name, taken apart; undefined for one that is not of a pod. */
export function parsePodLogFolder(folderName: string): LoggedPod | undefined {
  const [namespace = '', name = '', uid = '', ...rest] = folderName.split('_');
  return namespace === '' || name === '' || uid === '' || rest.length > 0
    ? undefined
    : { namespace, name, uid };
}

/** With all that is in it; a folder that is not there is no error. Symbolic links are removed, not followed. */
export async function removePodLogs(logsDir: string, pod: LoggedPod): Promise<void> {
  await rm(podLogFolder(logsDir, pod), { recursive: true, force: true });
}

export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

const maxNameBytes = 255;

function checkName(name: string): string {
  const isName = /^[^/\0]+$/.test(name) && name !== '.' && name !== '..';
  if (isName && Buffer.byteLength(name) <= maxNameBytes) return name;
  throw new Error(`${JSON.stringify(name.slice(0, 300))} cannot be the name of a folder of logs`);
}
