import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isRecord } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import { ExitError, errorCode, exitCodes, readRegularFile, writeFileAtomic } from '../../../base/index.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { identifyProcess, sameProcess } from './process-identity.ts';

/*
 * A control plane leaves when its channel to the agent closes, unless it is stopped (SIGSTOP) or hung at that moment.
 * So the agent notes which process it started, and ends it at its next start if it is still there. Nobody else's process
 * is ever touched: the one that has the noted id must have the noted start time and command too, in the same boot. Nor
 * is that of an agent which runs beside this one under another lock, on the same root folder by mistake.
 */

/** A control plane, and the agent that started it while it held that lock. */
interface Note {
  child: ProcessIdentity;
  agent: ProcessIdentity | undefined;
  lockFile: string;
}

const noteLimitBytes = 64 * 1024;
const waitMs = 5000;

/** Notes the control plane that this process has just started. Rejects when that cannot be written. */
export async function noteProcess(path: string, pid: number, lockFile = ''): Promise<void> {
  const [child, agent] = await Promise.all([pid, process.pid].map(identifyProcess));
  if (child !== undefined) await writeFileAtomic(path, JSON.stringify({ ...child, agent, lockFile }));
}

/** Forgets a control plane that has ended. A note that stays does no harm: there is no such process any more. */
export async function forgetProcess(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => undefined);
}

/**
 * Ends the control plane of an earlier agent, if it is still there. Call it only as the holder of the lock. Throws an
 * ExitError when it may not be ended, or belongs to an agent that runs under another lock.
 */
export async function endLeftover(path: string, clock: Clock, log: Logger, lockFile = ''): Promise<void> {
  const note = await readNote(path);
  const noted = note?.child;
  if (note !== undefined && noted !== undefined && (await isRunning(noted))) {
    await refuseIfInUse(note, path, lockFile);
    log.warn({ pid: noted.pid }, 'ending the control plane that an earlier agent left behind');
    kill(noted.pid);
    const endMs = clock.monotonicMs() + waitMs;
    while ((await isRunning(noted)) && clock.monotonicMs() < endMs) await clock.sleep(20);
    if (await isRunning(noted)) log.error({ pid: noted.pid }, 'the earlier control plane does not end');
  }
  await forgetProcess(path);
}

async function refuseIfInUse({ agent, lockFile }: Note, path: string, ownLock: string): Promise<void> {
  if (agent === undefined || agent.pid === process.pid || lockFile === ownLock) return;
  if (!(await isRunning(agent))) return;
  const message = `another agent uses the root folder ${dirname(path)}: process ${agent.pid}, which holds the lock ${lockFile}; stop it first, or choose another folder with --root-dir`;
  throw new ExitError(exitCodes.locked, message);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return; // it has just gone by itself
    const message = `the control plane of an earlier agent still runs as process ${pid} and this user may not end it; end it, or start the agent as the user that it belongs to`;
    throw new ExitError(exitCodes.locked, message, { cause: error });
  }
}

async function isRunning(noted: ProcessIdentity): Promise<boolean> {
  const found = await identifyProcess(noted.pid);
  return found !== undefined && sameProcess(found, noted);
}

/** undefined where there is no note, or one that says nothing. */
async function readNote(path: string): Promise<Note | undefined> {
  try {
    const bytes = await readRegularFile(path, { limitBytes: noteLimitBytes, noFollow: true });
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    const child = identityIn(value);
    if (!isRecord(value) || child === undefined || child.pid === process.pid) return undefined;
    const { agent, lockFile } = value;
    return { child, agent: identityIn(agent), lockFile: typeof lockFile === 'string' ? lockFile : '' };
  } catch {
    return undefined;
  }
}

function identityIn(value: unknown): ProcessIdentity | undefined {
  if (!isRecord(value)) return undefined;
  const { pid, startTime, bootId, command } = value;
  const isPid = typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 1;
  return isPid &&
    typeof startTime === 'string' &&
    typeof bootId === 'string' &&
    typeof command === 'string' &&
    command !== ''
    ? { pid, startTime, bootId, command }
    : undefined;
}
