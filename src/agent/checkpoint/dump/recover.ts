/**
 * Recovers checkpoints that were cut short: thaws their containers, and only those, because an operator may have paused
 * others on purpose; then removes their files. Each draft is retried independently, so that one whose container cannot
 * be proven to run, or whose journal cannot be read, delays no other.
 */
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Logger } from '../../../base/index.ts';
import { createBackoff, describeError } from '../../../base/index.ts';
import type { Runtime } from '../../runtime/index.ts';
import type { Target } from '../errors.ts';
import type { AbandonedDumps } from './abandoned-dumps.ts';
import type { Journal } from './journal.ts';
import {
  archiveFile,
  composeDamagedName,
  DamagedJournal,
  journalFile,
  listDrafts,
  readJournal,
} from './journal.ts';

export interface RecoverOptions {
  folder: string;
  runtime: Pick<Runtime, 'thaw'>;
  log: Logger;
  clock: Clock;
  /** The root of the file system, for reading the id of the boot. */
  root: string;
  /** Ids of containers that may be frozen, by the names of their drafts; removed when the container is proven to run. */
  pending: Map<string, string>;
  /** Notes the containers whose dump was cut short. */
  abandoned: Pick<AbandonedDumps, 'note'>;
  /** Whether this process is working on that draft, which must then be left alone. */
  isActive(draft: string): boolean;
  /** Held while a container is thawed, so that no new checkpoint of it begins meanwhile. */
  lockContainer(target: Target, cancel: AbortSignal): Promise<Disposable>;
  /** Resolves when this process has left a draft behind, or when `cancel` aborts. */
  untilFrozen(cancel: AbortSignal): Promise<void>;
}

const backoffOptions = { initialMs: 1000, maxMs: 30_000, jitter: 0.2 } as const;

/**
 * Recovers the drafts that are there at the start and those that are left behind later, until `stop` aborts. Never
 * rejects. Calls `tried` once each draft of the start has been tried, whether or not that succeeded.
 */
export async function keepRecovering(
  options: RecoverOptions,
  stop: AbortSignal,
  tried: () => void,
): Promise<void> {
  const { clock, root, untilFrozen } = options;
  const bootId = await readBootId(root);
  const backoff = createBackoff(backoffOptions);
  const tasks = new Map<string, Task>();
  while (!stop.aborted) {
    const listed = await startTasks(options, bootId, tasks, stop);
    if (listed) {
      void Promise.all([...tasks.values()].map((task) => task.tried)).then(tried);
      backoff.reset();
      await untilFrozen(stop);
    } else {
      const rested = new AbortController();
      const either = AbortSignal.any([stop, rested.signal]);
      await Promise.race([clock.sleep(backoff.next(), either), untilFrozen(either)]);
      rested.abort();
    }
  }
  await Promise.all([...tasks.values()].map((task) => task.ended));
}

interface Task {
  /** Resolves after the first attempt. */
  readonly tried: Promise<void>;
  readonly ended: Promise<void>;
}

/** Starts a task for each draft that has none yet. Returns whether the drafts could be listed. */
async function startTasks(
  options: RecoverOptions,
  bootId: string,
  tasks: Map<string, Task>,
  stop: AbortSignal,
): Promise<boolean> {
  try {
    for (const name of await listDrafts(options.folder)) {
      if (options.isActive(name) || tasks.has(name)) continue;
      const tried = Promise.withResolvers<void>();
      const ended = recoverDraft(options, name, bootId, stop, tried.resolve).then(() => {
        tasks.delete(name);
      });
      tasks.set(name, { tried: tried.promise, ended });
    }
    return true;
  } catch (error) {
    options.log.error({ error: describeError(error) }, 'cannot look for checkpoints that were cut short');
    return false;
  }
}

interface LeftDraft {
  readonly name: string;
  readonly path: string;
  /** Whether its container is known to run. Then only files are left; if it is paused later, it was not by this checkpoint. */
  runs: boolean;
}

async function recoverDraft(
  options: RecoverOptions,
  name: string,
  bootId: string,
  stop: AbortSignal,
  tried: () => void,
): Promise<void> {
  const { log, clock, folder, pending } = options;
  const left: LeftDraft = { name, path: join(folder, name), runs: false };
  const backoff = createBackoff(backoffOptions);
  while (!stop.aborted) {
    const recovered = await recoverOnce(options, left, bootId, stop).catch((error: unknown) => {
      const facts = { draft: left.path, error: describeError(error) };
      log.error(facts, 'cannot put right what a checkpoint has left, trying again later');
      return false;
    });
    if (recovered) pending.delete(name);
    tried();
    if (recovered) return;
    await clock.sleep(backoff.next(), stop);
  }
  tried();
}

/** Returns whether the draft is done with; rejects when a file cannot be read or removed. */
async function recoverOnce(
  options: RecoverOptions,
  left: LeftDraft,
  bootId: string,
  stop: AbortSignal,
): Promise<boolean> {
  const { log, pending } = options;
  const journal = left.runs ? undefined : await readUsableJournal(options, left);
  if (journal && isSameBoot(journal.bootId, bootId)) {
    pending.set(left.name, journal.id);
    // Early, because it may be large. A failure must not delay the thaw.
    await rm(join(left.path, archiveFile), { force: true }).catch(() => undefined);
    if (!(await thawContainer(options, journal, stop))) return false;
    pending.delete(left.name);
  }
  left.runs = true;
  await rm(left.path, { recursive: true, force: true });
  log.info({ draft: left.path, ...journal }, 'removed what a checkpoint that was cut short had left');
  return true;
}

/** Undefined when there is no valid journal. A damaged one is kept for the operator, under another name. */
async function readUsableJournal(
  { folder, log }: RecoverOptions,
  { name, path }: LeftDraft,
): Promise<Journal | undefined> {
  try {
    return await readJournal(path);
  } catch (error) {
    if (!(error instanceof DamagedJournal)) throw error;
    const kept = join(folder, composeDamagedName(name));
    await rename(join(path, journalFile), kept);
    log.error(
      { draft: path, kept, error: error.message },
      'the journal of a checkpoint is damaged and has been kept; the container that it meant may be frozen: look for one that is paused, resume it and remove the file',
    );
    return undefined;
  }
}

async function thawContainer(
  options: RecoverOptions,
  journal: Journal,
  cancel: AbortSignal,
): Promise<boolean> {
  const { log, runtime, lockContainer, abandoned } = options;
  try {
    using _lock = await lockContainer(journal, cancel);
    await abandoned.note(journal.id);
    const outcome = await runtime.thaw(journal.id, cancel);
    log.warn({ ...journal, outcome }, 'container of a checkpoint that was cut short has been looked after');
    return true;
  } catch (error) {
    if (cancel.aborted) return false;
    log.error(
      { ...journal, error: describeError(error) },
      'container of a checkpoint that was cut short may be frozen',
    );
    return false;
  }
}

/** An id that could not be read is empty and counts as the same boot. */
function isSameBoot(a: string, b: string): boolean {
  return a === b || a === '' || b === '';
}

/** The kernel's id of this boot; empty where it cannot be read. */
export async function readBootId(root: string): Promise<string> {
  const path = join(root, 'proc/sys/kernel/random/boot_id');
  return await readFile(path, 'utf8').then(
    (text) => text.trim(),
    () => '',
  );
}
