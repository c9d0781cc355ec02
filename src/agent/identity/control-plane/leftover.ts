import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isRecord } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import { ExitError, errorCode, exitCodes, readRegularFile, writeFileAtomic } from '../../../base/index.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { identifyProcess, isSameProcess } from './process-identity.ts';

/*
 * A control plane exits when its channel to the agent closes, unless it is stopped (SIGSTOP) or hangs at that moment. So
 * the agent records which process it has started, and at its next start ends it if it still runs. No other process is
 * ever killed: the process with the recorded id must also have the recorded start time and command, in the same boot. Nor
 * is the control plane of an agent that runs under another lock with the same root folder by mistake.
 */

/** A control plane, and the agent that started it while it held that lock. */
interface ProcessRecord {
  child: ProcessIdentity;
  agent: ProcessIdentity | undefined;
  lockFile: string;
}

const maxRecordBytes = 64 * 1024;
const waitMs = 5000;

/** Records the control plane that this process has just started. Rejects when the record cannot be written. */
export async function recordProcess(path: string, pid: number, lockFile = ''): Promise<void> {
  const [child, agent] = await Promise.all([pid, process.pid].map(identifyProcess));
  if (child !== undefined) await writeFileAtomic(path, JSON.stringify({ ...child, agent, lockFile }));
}

/** Removes the record of a control plane that has ended. One that stays does no harm: the process no longer exists. */
export async function forgetProcess(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => undefined);
}

/**
 * Ends the control plane of an earlier agent, if it still runs. Call it only while holding the lock. Throws an ExitError
 * when this user may not end it, or when it belongs to an agent that runs under another lock.
 */
export async function endLeftover(path: string, clock: Clock, log: Logger, lockFile = ''): Promise<void> {
  const record = await readRecord(path);
  const recorded = record?.child;
  if (record !== undefined && recorded !== undefined && (await isRunning(recorded))) {
    await refuseIfInUse(record, path, lockFile);
    log.warn({ pid: recorded.pid }, 'ending the control plane that an earlier agent left behind');
    kill(recorded.pid);
    const endMs = clock.monotonicMs() + waitMs;
    while ((await isRunning(recorded)) && clock.monotonicMs() < endMs) await clock.sleep(20);
    if (await isRunning(recorded)) log.error({ pid: recorded.pid }, 'the earlier control plane does not end');
  }
  await forgetProcess(path);
}

async function refuseIfInUse(
  { agent, lockFile }: ProcessRecord,
  path: string,
  ownLock: string,
): Promise<void> {
  if (agent === undefined || agent.pid === process.pid || lockFile === ownLock) return;
  if (!(await isRunning(agent))) return;
  const message = `another agent uses the root folder ${dirname(path)}: process ${agent.pid}, which holds the lock ${lockFile}; stop it first, or choose another folder with --root-dir`;
  throw new ExitError(exitCodes.locked, message);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return; // it has just ended by itself
    const message = `the control plane of an earlier agent still runs as process ${pid} and this user may not end it; end it, or start the agent as the user that it belongs to`;
    throw new ExitError(exitCodes.locked, message, { cause: error });
  }
}

async function isRunning(recorded: ProcessIdentity): Promise<boolean> {
  const found = await identifyProcess(recorded.pid);
  return found !== undefined && isSameProcess(found, recorded);
}

/** undefined where there is no record, or no valid one. */
async function readRecord(path: string): Promise<ProcessRecord | undefined> {
  try {
    const bytes = await readRegularFile(path, { limitBytes: maxRecordBytes, noFollow: true });
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    const child = parseIdentity(value);
    if (!isRecord(value) || child === undefined || child.pid === process.pid) return undefined;
    const { agent, lockFile } = value;
    return { child, agent: parseIdentity(agent), lockFile: typeof lockFile === 'string' ? lockFile : '' };
  } catch {
    return undefined;
  }
}

function parseIdentity(value: unknown): ProcessIdentity | undefined {
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
