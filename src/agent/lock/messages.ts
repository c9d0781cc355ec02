import { dirname } from 'node:path';
import { describeError, ExitError, errorCode, exitCodes } from '../../base/index.ts';
import { folderPathOf } from './heartbeat.ts';
import type { ProcessProbe } from './identity.ts';
import { toPrintable } from './identity.ts';
import type { LockRecord } from './record.ts';

/** How errors name a lock. */
export interface LockLabel {
  /** What its holder does, as in "another agent …". */
  readonly held: string;
  /** What an operator can do instead of stopping the holder: a sentence without its full stop. */
  readonly otherwise: string;
  /** The flag that chooses another path. */
  readonly flag: string;
}

export const lockFileLabel = (path: string): LockLabel => ({
  held: `holds the lock ${path}`,
  otherwise: 'Agents that share nothing else can be given different files with --lock-file',
  flag: '--lock-file',
});

/** Creates the error of an agent that finds the lock held: by which process, since when, and what to do. */
export async function createHeldError(
  path: string,
  record: LockRecord | undefined,
  probe: ProcessProbe,
  { held, otherwise }: LockLabel,
): Promise<ExitError> {
  if (record === undefined) {
    return new ExitError(
      exitCodes.locked,
      `another agent ${held}: ${folderPathOf(path)} is kept fresh, but the lock file does not name the process; stop that agent first`,
    );
  }
  const here = (await probe.self()).namespace === record.namespace;
  const { command, unit } = here ? await probe.describe(record.pid) : {};
  const who = `process ${record.pid}${here ? '' : ' of another container (pid namespace)'}`;
  const commandText = command === undefined ? '' : ` (${command})`;
  const rootText = record.rootDir === undefined ? '' : ` with the root folder ${toPrintable(record.rootDir)}`;
  const stop = unit === undefined ? `kill ${record.pid}` : `systemctl stop ${unit}`;
  const advice = here ? `stop it first with "${stop}"` : 'stop that container first';
  return new ExitError(
    exitCodes.locked,
    `another agent ${held}: ${who}${commandText}${rootText}, since ${record.since}; ${advice}. ${otherwise}`,
  );
}

/** Turns a system error about the lock's files into one that an operator can act on. */
export function toLockError(path: string, error: unknown, { flag }: LockLabel): unknown {
  if (error instanceof ExitError) return error;
  const folder = dirname(path);
  const code = errorCode(error);
  if (code === 'ENOTEMPTY') {
    return new ExitError(
      exitCodes.unwritable,
      `cannot take over the lock ${path}: its last holder is gone, but there are files in ${folderPathOf(path)}, which must be empty; remove that folder`,
    );
  }
  const why: Record<string, string> = {
    EACCES: `user ${process.geteuid?.()} may not write in ${folder}`,
    EPERM: `user ${process.geteuid?.()} may not write in ${folder}`,
    EROFS: `${folder} is read-only (under systemd the unit needs it in ReadWritePaths=)`,
    ENOTDIR: `a file is in the way of the folder ${folder}`,
    EEXIST: `a file is in the way of the folder ${folder}`,
    ENOENT: `the folder ${folder} cannot be made`,
    ENOSPC: `the file system of ${folder} is full`,
  };
  const reason = why[code ?? ''] ?? describeError(error);
  return new ExitError(
    exitCodes.unwritable,
    `cannot make the lock ${path}: ${reason}; choose another path with ${flag}`,
    { cause: error },
  );
}
