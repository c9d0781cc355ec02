import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock, Logger } from '../../base/index.ts';
import { errorCode } from '../../base/index.ts';
import type { Lock } from './acquire.ts';
import { acquireLock } from './acquire.ts';
import type { LockLabel } from './messages.ts';

export interface AgentLockOptions {
  /** The lock that keeps two agents from running on one machine (specification 2.6). */
  lockFile: string;
  /** The root folder, which exists. */
  rootDir: string;
  clock: Clock;
  log: Logger;
  /** Release both locks when another process shows interest in the one of `lockFile`. */
  exitOnContention: boolean;
  /** Ends the waiting for a lock whose state is not clear yet. */
  signal?: AbortSignal;
  /** How long a lock may go without a heartbeat until it counts as abandoned; default 8 s. */
  staleMs?: number;
}

/** The lock of a root folder, inside it. */
const rootLockName = 'agent.lock';

/**
 * Acquires the lock of `lockFile`, then that of the root folder, as one: it is lost when one of them is, and closing it
 * releases the root folder first. Until then nothing in the root folder is created, opened or removed, so an agent that is
 * refused because another one uses the folder, under whatever lock file, has touched nothing of it.
 *
 * Throws as acquireLock().
 */
export async function acquireAgentLock(options: AgentLockOptions): Promise<Lock> {
  const { lockFile, rootDir, ...rest } = options;
  const machine = await acquireLock({ ...rest, path: lockFile });
  try {
    const root = await acquireRootLock(options);
    return root === undefined ? machine : joinLocks(machine, root);
  } catch (error) {
    await machine.close();
    throw error;
  }
}

/** Undefined where it is the lock file itself, and where the disk is full. */
async function acquireRootLock({
  lockFile,
  rootDir,
  exitOnContention: _exits,
  ...rest
}: AgentLockOptions): Promise<Lock | undefined> {
  const path = join(rootDir, rootLockName);
  if (await isSamePath(lockFile, path)) return undefined;
  try {
    return await acquireLock({ ...rest, path, label: rootLabel(rootDir) });
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    rest.log.warn(
      { path },
      `the root folder ${rootDir} cannot be locked, for its disk is full; running on: start no other agent on this folder`,
    );
    return undefined;
  }
}

const rootLabel = (rootDir: string): LockLabel => ({
  held: `uses the root folder ${rootDir}`,
  otherwise: 'Or choose another root folder with --root-dir',
  flag: '--root-dir',
});

/** A node whose disk is full reports that, and so has to start. */
function isDiskFull(error: unknown): boolean {
  const code = error instanceof Error ? errorCode(error.cause) : undefined;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/** Both folders exist. */
async function isSamePath(one: string, other: string): Promise<boolean> {
  if (basename(one) !== basename(other)) return false;
  return (await realpath(dirname(one))) === (await realpath(dirname(other)));
}

function joinLocks(machine: Lock, root: Lock): Lock {
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= root.close().then(() => machine.close());
    return closing;
  };
  return {
    path: machine.path,
    lost: AbortSignal.any([machine.lost, root.lost]),
    contended: machine.contended,
    close,
    [Symbol.asyncDispose]: close,
  };
}
