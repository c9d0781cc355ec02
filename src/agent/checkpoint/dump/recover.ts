/**
 * Puts right what checkpoints that were cut short have left: thaws their containers, and only those, because an
 * operator may have paused others on purpose; then removes their files. Each draft is tried at its own pace, so
 * that one whose container cannot be proven to run, or whose journal cannot be read, keeps no other waiting.
 */
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Logger } from '../../../base/index.ts';
import { createBackoff, describeError } from '../../../base/index.ts';
import type { Runtime } from '../../runtime/index.ts';
import type { Target } from '../errors.ts';
import type { Abandoned } from './abandoned.ts';
import type { Journal } from './journal.ts';
import { archiveFile, DamagedJournal, damagedName, journalFile, listDrafts, readJournal } from './journal.ts';

export interface RecoverOptions {
  folder: string;
  runtime: Pick<Runtime, 'thaw'>;
  log: Logger;
  clock: Clock;
  /** The root of the file system, for the id of the boot. */
  root: string;
  /** Ids of containers that may be frozen, by the names of their drafts: added when known, removed when proven to run. */
  pending: Map<string, string>;
  /** Takes the containers whose dump was cut short. */
  abandoned: Pick<Abandoned, 'note'>;
  /** Whether this process works on that draft right now. */
  isActive(draft: string): boolean;
  /** Keeps a new checkpoint of the same container away meanwhile. */
  lockContainer(target: Target, cancel: AbortSignal): Promise<Disposable>;
  /** Resolves when this process has left a draft behind, or when `cancel` aborts. */
  untilFrozen(cancel: AbortSignal): Promise<void>;
}

const backoffOptions = { initialMs: 1000, maxMs: 30_000, jitter: 0.2 } as const;

/**
 * Puts right what is left at the start and what is left later, until `stop` aborts. Never rejects. `tried` is
 * called once everything that was there at the start has been tried, whether or not it is right now.
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
  /** Resolves after the first try. */
  readonly tried: Promise<void>;
  readonly ended: Promise<void>;
}

/** A task for each draft that has none yet. Answers whether the drafts could be listed. */
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

interface Left {
  readonly name: string;
  readonly path: string;
  /** Its container is known to run: only files are left, and a pause from now on is somebody else's. */
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
  const left: Left = { name, path: join(folder, name), runs: false };
  const backoff = createBackoff(backoffOptions);
  while (!stop.aborted) {
    const recovered = await tryDraft(options, left, bootId, stop).catch((error: unknown) => {
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

/** Answers whether there is nothing more to do; rejects when a file cannot be read or removed. */
async function tryDraft(
  options: RecoverOptions,
  left: Left,
  bootId: string,
  stop: AbortSignal,
): Promise<boolean> {
  const { log, pending } = options;
  const journal = left.runs ? undefined : await journalOf(options, left);
  if (journal && sameBoot(journal.bootId, bootId)) {
    pending.set(left.name, journal.id);
    // Soon, because it may be large. The container comes first all the same.
    await rm(join(left.path, archiveFile), { force: true }).catch(() => undefined);
    if (!(await thaw(options, journal, stop))) return false;
    pending.delete(left.name);
  }
  left.runs = true;
  await rm(left.path, { recursive: true, force: true });
  log.info({ draft: left.path, ...journal }, 'removed what a checkpoint that was cut short had left');
  return true;
}

/** A journal that makes no sense tells of no container, but somebody may want to see it. */
async function journalOf(
  { folder, log }: RecoverOptions,
  { name, path }: Left,
): Promise<Journal | undefined> {
  try {
    return await readJournal(path);
  } catch (error) {
    if (!(error instanceof DamagedJournal)) throw error;
    const kept = join(folder, damagedName(name));
    await rename(join(path, journalFile), kept);
    log.error(
      { draft: path, kept, error: error.message },
      'the journal of a checkpoint is damaged and has been kept; the container that it meant may be frozen: look for one that is paused, resume it and remove the file',
    );
    return undefined;
  }
}

async function thaw(options: RecoverOptions, journal: Journal, cancel: AbortSignal): Promise<boolean> {
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

/** An id that could not be read may be of any boot. */
function sameBoot(a: string, b: string): boolean {
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
