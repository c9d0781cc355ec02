import { rm, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock, Logger } from '../../base/index.ts';
import { describeError, ExitError, errorCode, exitCodes, makeFolders } from '../../base/index.ts';
import type { Heartbeat } from './heartbeat.ts';
import { beatsPerStale, folderPathOf, startHeartbeat } from './heartbeat.ts';
import type { ProcessProbe } from './identity.ts';
import { createProcessProbe } from './identity.ts';
import type { Limits, Observation } from './judge.ts';
import { isSameHolder, judge } from './judge.ts';
import type { LockLabel } from './messages.ts';
import { createHeldError, lockFileLabel, toLockError } from './messages.ts';
import { prepareQueue, requestLock, withQueueLock } from './queue.ts';
import type { LockRecord } from './record.ts';
import { readFolder, readRecord, writeRecord } from './record.ts';
import { watchLock } from './watch.ts';

export interface LockOptions {
  /** The lock file; `<path>.lock` and `<path>.queue` are created beside it. Missing folders are created, 0700. */
  path: string;
  clock: Clock;
  log: Logger;
  /** How long a lock may go without a heartbeat until it counts as abandoned; default 8 s, at least 5 s. */
  staleMs?: number;
  /** Release the lock when another process shows interest in it; default false. */
  exitOnContention?: boolean;
  /** How long to wait for a holder that releases its lock on request; default 30 s. */
  yieldMs?: number;
  /** Ends the waiting for a lock whose state is not clear yet. */
  signal?: AbortSignal;
  /** How processes are inspected; default /proc. */
  probe?: ProcessProbe;
  /** How errors name the lock; default as that of `--lock-file`. */
  label?: LockLabel;
  /** Named to those who find the lock held. */
  rootDir?: string;
}

/** The agent's lock. Closing it releases it; close() may be called twice. */
export interface Lock extends AsyncDisposable {
  readonly path: string;
  /**
   * Aborts, with an ExitError as its reason, when the lock is lost. Another agent may be running from then on: stop in
   * order and exit with that error.
   */
  readonly lost: AbortSignal;
  /**
   * Only with `exitOnContention`: aborts, with an Error that says why as its reason, when another process wants the lock.
   * Stop in order, close the lock, and exit with success.
   */
  readonly contended: AbortSignal;
  close(): Promise<void>;
}

const pollMs = 250;
const defaultStaleMs = 8_000;
const defaultYieldMs = 30_000;

/**
 * Acquires the lock that keeps two agents from running on one node (specification 2.6). A lock whose holder is provably
 * gone is taken over at once; any other without a heartbeat after `staleMs`.
 *
 * Throws an ExitError: `locked` when another agent holds it (the message names the process), `unwritable` when the lock's
 * files cannot be created or something else is in their place. Throws the signal's reason when that aborts.
 */
export async function acquireLock(options: LockOptions): Promise<Lock> {
  try {
    return await acquire(options);
  } catch (error) {
    if (options.signal?.aborted) throw options.signal.reason;
    throw toLockError(options.path, error, options.label ?? lockFileLabel(options.path));
  }
}

async function acquire(options: LockOptions): Promise<Lock> {
  const { path, clock, log, signal, probe = createProcessProbe(), label = lockFileLabel(path) } = options;
  const staleMs = options.staleMs ?? defaultStaleMs;
  const limits = { staleMs, settleMs: (staleMs / beatsPerStale) * 1.5 };
  await makeFolders(dirname(path));
  await prepareQueue(path);
  await requestLock(path);
  const startedMs = clock.monotonicMs();
  let first: Observation | undefined;
  let isLogged = false;
  for (;;) {
    const result = await withQueueLock(path, clock, () => attempt(options, probe, limits, first));
    if ('lock' in result) return result.lock;
    const { observation, held } = result;
    const yielding = observation.record?.yields === true;
    const waitedMs = clock.monotonicMs() - startedMs;
    if (held && !(yielding && waitedMs < (options.yieldMs ?? defaultYieldMs))) {
      throw await createHeldError(path, observation.record, probe, label);
    }
    if (!isLogged) log.info(describeWait(path, observation.record, held));
    isLogged = true;
    if (held) await requestLock(path); // again, as the holder may only just have begun to watch
    first = first !== undefined && isSameHolder(first, observation) ? first : observation;
    await clock.sleep(pollMs, signal);
    signal?.throwIfAborted();
  }
}

function describeWait(path: string, record: LockRecord | undefined, held: boolean): string {
  const who = record === undefined ? 'an unknown holder' : `process ${record.pid}`;
  if (held) return `waiting for ${who} to give the lock ${path} away`;
  return `looking whether ${who} of the lock ${path} still runs`;
}

type Attempt = { lock: Lock } | { observation: Observation; held: boolean };

async function attempt(
  options: LockOptions,
  probe: ProcessProbe,
  limits: Limits,
  first: Observation | undefined,
): Promise<Attempt> {
  const { path, log } = options;
  const observation = await observe(options, probe);
  const judgement = judge(
    first !== undefined && isSameHolder(first, observation) ? first : observation,
    observation,
    limits,
  );
  if (judgement === 'held' || judgement === 'unclear') return { observation, held: judgement === 'held' };
  if (judgement === 'dead') {
    log.info(
      `taking over the lock ${path} that process ${observation.record?.pid ?? '(unknown)'} left behind`,
    );
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

async function observe(options: LockOptions, probe: ProcessProbe): Promise<Observation> {
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

/** Takes the lock, which must be free, while holding the queue lock. */
async function take(options: LockOptions, probe: ProcessProbe, limits: Limits): Promise<Lock> {
  const { path, clock, log, exitOnContention = false, rootDir } = options;
  const lost = new AbortController();
  const contended = new AbortController();
  const end = new AbortController();
  const record: LockRecord = {
    id: crypto.randomUUID(),
    ...(await probe.self()),
    since: new Date(clock.now()).toISOString(),
    yields: exitOnContention,
    ...(rootDir === undefined ? {} : { rootDir }),
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
  const { takeBeat } = heartbeat;
  const isContentionUrgent = exitOnContention;
  const watch = { path, record, clock, log, onLost, onContention, isContentionUrgent, takeBeat };
  const watching = watchLock(watch, end.signal);
  let closing: Promise<void> | undefined;
  const close = () => {
    end.abort();
    closing ??= watching.then(() => releaseLock(options, record, heartbeat));
    return closing;
  };
  return { path, lost: lost.signal, contended: contended.signal, close, [Symbol.asyncDispose]: close };
}

/** Removes all files but the queue file, and touches none that now belong to another holder. Never throws. */
async function releaseLock(options: LockOptions, record: LockRecord, heartbeat: Heartbeat): Promise<void> {
  const { path, clock, log } = options;
  try {
    await withQueueLock(path, clock, async () => {
      const ours = (await readRecord(path))?.id === record.id;
      if (!ours) heartbeat.disown();
      await heartbeat.release();
      if (ours) await rm(path, { force: true });
    });
  } catch (error) {
    log.warn(`cannot give the lock ${path} back in order: ${describeError(error)}`);
  }
}
