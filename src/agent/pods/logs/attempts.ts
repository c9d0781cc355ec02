import { unlink } from 'node:fs/promises';
import { errorCode } from '../../../base/index.ts';
import { openFolderBelow } from './folder.ts';
import type { LoggedPod } from './paths.ts';
import { containerLogFolder, namesIn, podLogFolder } from './paths.ts';

/* The logs of a container by its attempts: ATTEMPT.log, and what was rotated of it. */

/** By container: the highest attempt of which there is a log, rotated ones too. What has never run is not in it. */
export async function findLoggedAttempts(
  logsDir: string,
  pod: LoggedPod,
  containers: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const folders = new Set(await namesIn(podLogFolder(logsDir, pod)));
  const found = new Map<string, number>();
  for (const container of containers.filter((each) => folders.has(each))) {
    const names = await namesIn(containerLogFolder(logsDir, pod, container));
    const attempts = names.flatMap((name) => attemptOf(name) ?? []);
    if (attempts.length > 0) found.set(container, Math.max(...attempts));
  }
  return found;
}

/** Removes the logs of earlier attempts than `attempt`; what is not a log stays. */
export async function removeLogsBefore(
  logsDir: string,
  pod: LoggedPod,
  container: string,
  attempt: number,
): Promise<void> {
  const names = [podLogFolder('', pod), container];
  await using folder = await openFolderBelow(logsDir, names).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (folder === undefined) return;
  for (const name of await namesIn(folder.path))
    if ((attemptOf(name) ?? attempt) < attempt) await unlink(folder.at(name));
}

/** Undefined for what is not a log. */
function attemptOf(name: string): number | undefined {
  const [, digits] = /^(\d{1,9})\.log(?:\..*)?$/.exec(name) ?? [];
  return digits === undefined ? undefined : Number(digits);
}
