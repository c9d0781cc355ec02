import { rm, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock, Logger } from '../../base/index.ts';
import { describeError, ExitError, errorCode, exitCodes, makeFolders } from '../../base/index.ts';
import type { Heartbeat } from './heartbeat.ts';
import { beatsPerStale, folderPathOf, startHeartbeat } from './heartbeat.ts';
import type { ProcessProbe } from './identity.ts';
import { createProcessProbe } from './identity.ts';
import type { Limits, Sight } from './judge.ts';
import { judge, sameHolder } from './judge.ts';
import { heldError, lockFailure } from './messages.ts';
import type { LockRecord } from './record.ts';
import { readFolder, readRecord, writeRecord } from './record.ts';
import { askForLock, inTurn, prepareQueue } from './turn.ts';
import { watchLock } from './watch.ts';

export interface LockOptions {
  /** The lock file; beside it `<path>.lock` and `<path>.queue` are made. Missing folders are made, 0700. */
  path: string;
  clock: Clock;
  log: Logger;
  /** For how long a lock may stand still until it counts as left behind; default 8 s, at least 5 s. */
  staleMs?: number;
  /** Give the lock away when another process shows interest in it; default false. */
  exitOnContention?: boolean;
  /** How long to wait for a holder that gives its lock away; default 30 s. */
  yieldMs?: number;
  /** Ends the waiting for a lock whose state is not clear yet. */
  signal?: AbortSignal;
  /** How processes are looked at; default /proc. */
  probe?: ProcessProbe;
}

/** The agent's lock. Closing it gives it back; close() may be called twice. */
export interface Lock extends AsyncDisposable {
  readonly path: string;
  /**
   * Aborts, with an ExitError as its reason, when the lock is lost: another agent may be running from then on,
   * so stop in order and leave with that error.
   */
  readonly lost: AbortSignal;
  /**
   * Only with `exitOnContention`: aborts, with an Error that says why as its reason, when another process wants
   * the lock. Stop in order, close the lock, and leave with success.
   */
  readonly contended: AbortSignal;
  close(): Promise<void>;
}

const pollMs = 250;
const defaultStaleMs = 8_000;
const defaultYieldMs = 30_000;

/**
 * Takes the lock that keeps two agents from running on one node (specification 2.6). A lock whose holder is
 * provably gone is taken over at once, any other that stands still after `staleMs`.
 *
 * Throws an ExitError: `locked` when another agent holds it (the message names the process), `unwritable` when
 * the lock's files cannot be made or something foreign is in their place. Throws the signal's reason when that aborts.
 */
export async function acquireLock(options: LockOptions): Promise<Lock> {
  try {
    return await acquire(options);
  } catch (error) {
    if (options.signal?.aborted) throw options.signal.reason;
    throw lockFailure(options.path, error);
  }
}

async function acquire(options: LockOptions): Promise<Lock> {
  const { path, clock, log, signal, probe = createProcessProbe() } = options;
  const staleMs = options.staleMs ?? defaultStaleMs;
  const limits = { staleMs, settleMs: (staleMs / beatsPerStale) * 1.5 };
  await makeFolders(dirname(path));
  await prepareQueue(path);
  await askForLock(path);
  const startedMs = clock.monotonicMs();
  let first: Sight | undefined;
  let told = false;
  for (;;) {
    const result = await inTurn(path, clock, () => attempt(options, probe, limits, first));
    if ('lock' in result) return result.lock;
    const { sight, held } = result;
    const yielding = sight.record?.yields === true;
    const waitedMs = clock.monotonicMs() - startedMs;
    if (held && !(yielding && waitedMs < (options.yieldMs ?? defaultYieldMs))) {
      throw await heldError(path, sight.record, probe);
    }
    if (!told) log.info(waitingText(path, sight.record, held));
    told = true;
    if (held) await askForLock(path); // once more: the holder may only just have begun to look
    first = first !== undefined && sameHolder(first, sight) ? first : sight;
    await clock.sleep(pollMs, signal);
    signal?.throwIfAborted();
  }
}

function waitingText(path: string, record: LockRecord | undefined, held: boolean): string {
  const who = record === undefined ? 'an unknown holder' : `process ${record.pid}`;
  if (held) return `waiting for ${who} to give the lock ${path} away`;
  return `looking whether ${who} of the lock ${path} still runs`;
}

type Attempt = { lock: Lock } | { sight: Sight; held: boolean };

async function attempt(
  options: LockOptions,
  probe: ProcessProbe,
  limits: Limits,
  first: Sight | undefined,
): Promise<Attempt> {
  const { path, log } = options;
  const sight = await look(options, probe);
  const judgement = judge(first !== undefined && sameHolder(first, sight) ? first : sight, sight, limits);
  if (judgement === 'held' || judgement === 'unclear') return { sight, held: judgement === 'held' };
  if (judgement === 'dead') {
    log.info(`taking over the lock ${path} that process ${sight.record?.pid ?? '(unknown)'} left behind`);
    await removeFolder(path);
  }
  return { lock: await take(options, probe, limits) };
}

async function removeFolder(path: string): Promise<void> {
  try {
    await rmdir(folderPathOf(path));
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

async function look(options: LockOptions, probe: ProcessProbe): Promise<Sight> {
  const { path, clock } = options;
  const record = await readRecord(path);
  return {
    record,
    verdict: record === undefined ? undefined : await probe.verdict(record),
    folder: await readFolder(folderPathOf(path)),
    nowMs: clock.now(),
    monotonicMs: clock.monotonicMs(),
  };
}

/** Makes the lock ours; nobody has it, and it is our turn. */
async function take(options: LockOptions, probe: ProcessProbe, limits: Limits): Promise<Lock> {
  const { path, clock, log, exitOnContention = false } = options;
  const lost = new AbortController();
  const contended = new AbortController();
  const end = new AbortController();
  const record: LockRecord = {
    id: crypto.randomUUID(),
    ...(await probe.self()),
    since: new Date(clock.now()).toISOString(),
    yields: exitOnContention,
  };
  const onLost = (why: string) => {
    if (lost.signal.aborted || end.signal.aborted) return;
    heartbeat.disown();
    const message = `lost the lock ${path}: ${why}; stopping, as another agent may be running`;
    lost.abort(new ExitError(exitCodes.locked, message));
  };
  const onContention = (why: string) => {
    if (exitOnContention) contended.abort(new Error(why));
    else log.debug(why);
  };
  const heartbeat = await startHeartbeat({ path, id: record.id, staleMs: limits.staleMs, onLost });
  try {
    await writeRecord(path, record);
  } catch (error) {
    await heartbeat.release();
    throw error;
  }
  const watching = watchLock({ path, record, clock, log, onLost, onContention }, end.signal);
  let closing: Promise<void> | undefined;
  const close = () => {
    end.abort();
    closing ??= watching.then(() => giveBack(options, record, heartbeat));
    return closing;
  };
  return { path, lost: lost.signal, contended: contended.signal, close, [Symbol.asyncDispose]: close };
}

/** Leaves no trace but the queue file, and touches nothing that has become another's. Never throws. */
async function giveBack(options: LockOptions, record: LockRecord, heartbeat: Heartbeat): Promise<void> {
  const { path, clock, log } = options;
  try {
    await inTurn(path, clock, async () => {
      const ours = (await readRecord(path))?.id === record.id;
      if (!ours) heartbeat.disown();
      await heartbeat.release();
      if (ours) await rm(path, { force: true });
    });
  } catch (error) {
    log.warn(`cannot give the lock ${path} back in order: ${describeError(error)}`);
  }
}
