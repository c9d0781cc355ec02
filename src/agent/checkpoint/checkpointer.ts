import { join, resolve } from 'node:path';
import { describeError, KeyedMutex, Semaphore, systemClock } from '../../base/index.ts';
import { createAnnouncements } from './announcements.ts';
import { openArchiveFolder } from './archive-folder.ts';
import { audit } from './audit.ts';
import { rememberAbandoned } from './dump/abandoned.ts';
import { createDiskRoom } from './dump/disk-room.ts';
import { createDraftsUnderWay } from './dump/drafts-under-way.ts';
import type { MadeCheckpoint } from './dump/dump.ts';
import { createDumper } from './dump/dump.ts';
import { checkNames, findRunning } from './dump/find-running.ts';
import { findLeftDumps } from './dump/left-dumps.ts';
import { keepRecovering } from './dump/recover.ts';
import { startTimeLimit } from './dump/time-limit.ts';
import type { CheckpointError, Target } from './errors.ts';
import { failed, toCheckpointError, wholePod } from './errors.ts';
import { checkpointMetrics } from './metrics.ts';
import type { MadeSet, PodCheckpointRequest } from './pod-set/index.ts';
import { createSetDumper, serveSet } from './pod-set/index.ts';
import { defaultSettings } from './settings.ts';
import type { Checkpointer, CheckpointerOptions, CheckpointRequest } from './types.ts';

const stillPending =
  'an earlier checkpoint may have left it frozen; the agent is trying to resume it, try again later';

export function createCheckpointer(options: CheckpointerOptions): Checkpointer {
  const { runtime, log, clock = systemClock, root = '/' } = options;
  const { defaultTimeoutMs = 120_000, closeMs = 500, closeHoldingMs = 8000, readyMs = 5000 } = options;
  const { nodeName, settings = () => defaultSettings } = options;
  const folder = resolve(join(options.rootDir, 'checkpoints'));
  const archives = openArchiveFolder(folder, log);
  const announcements = createAnnouncements(archives);
  const abandoned = rememberAbandoned(folder, clock, log);
  const metrics = checkpointMetrics(options.metrics);
  const listening = runtime.onResumed(() => metrics.recovered());
  const closing = new AbortController();
  const containers = new KeyedMutex();
  const slots = new Semaphore(() => settings().maxConcurrent);
  const requests = new Set<Promise<unknown>>();
  const pending = new Map<string, string>();
  const room = createDiskRoom();
  const drafts = createDraftsUnderWay(pending);
  const own = { runtime, log, clock, root };
  const parts = {
    ...own,
    archives: announcements.archives,
    room,
    abandoned,
    nodeName,
    settings,
    drafts,
  };
  const dumper = createDumper(parts);
  const setDumper = createSetDumper(parts);

  const lockContainer = (target: Target, cancel: AbortSignal): Promise<Disposable> =>
    containers.acquire(keyOf(target), cancel);

  async function serve(request: CheckpointRequest): Promise<MadeCheckpoint> {
    const giveUp = AbortSignal.any([request.cancel, closing.signal]);
    using _lock = await lockContainer(request, giveUp);
    const timeoutMs = request.timeoutMs && request.timeoutMs > 0 ? request.timeoutMs : defaultTimeoutMs;
    const startedMs = clock.monotonicMs();
    using search = startTimeLimit(clock, timeoutMs);
    const found = await findRunning(runtime, request, search, giveUp);
    const usedMs = clock.monotonicMs() - startedMs;
    refuseIfFrozen(request, found.id);
    using _slot = await slots.acquire(giveUp);
    using limit = startTimeLimit(clock, timeoutMs, usedMs);
    const { namespace, pod, container, requester } = request;
    request.onBegin?.();
    return await dumper.dump({ target: { namespace, pod, container }, found, requester, limit }, giveUp);
  }

  async function servePod(request: PodCheckpointRequest): Promise<MadeSet> {
    const service = {
      runtime,
      dumper: setDumper,
      clock,
      defaultTimeoutMs,
      lockContainer,
      acquireSlot: (cancel: AbortSignal) => slots.acquire(cancel),
      refuseConflict,
      refuseIfFrozen,
    };
    return await serveSet(service, request, AbortSignal.any([request.cancel, closing.signal]));
  }

  function refuseIfFrozen(target: Target, id: string): void {
    if ([...pending.values()].includes(id)) throw failed('stillFrozen', target, stillPending);
  }

  /** Why a request did not run to its end, when that was not the runtime's doing. */
  function givenUp(request: CheckpointRequest): CheckpointError | undefined {
    const stops = closing.signal.aborted || request.stopping?.aborted;
    if (stops) return failed('stopping', request, 'the agent is being stopped');
    if (request.cancel.aborted) return failed('cancelled', request, 'the client went away');
    return undefined;
  }

  /** Refuses what need not be begun. */
  function refuseTooMany(request: Target): void {
    const { maxConcurrent, maxWaiting } = settings();
    if (requests.size >= maxConcurrent + maxWaiting) {
      const why = `${requests.size} checkpoints are under way or wait already, try again later`;
      throw failed('busy', request, why);
    }
  }

  function refuseConflict(request: Target): void {
    if (settings().onConflict === 'Refuse' && containers.isLocked(keyOf(request))) {
      throw failed('conflict', request, 'another checkpoint of it is under way, try again when it has ended');
    }
  }

  /** Serves a request, and lets everybody know what came of it. */
  async function attend<T>(
    request: CheckpointRequest,
    begin: () => Promise<T>,
    madeIn: (answer: T) => readonly MadeCheckpoint[],
  ): Promise<T> {
    let served: Promise<T> | undefined;
    metrics.underWay(1);
    try {
      refuseTooMany(request);
      served = begin();
      requests.add(served);
      const answer = await served;
      const made = madeIn(answer);
      audit({ log, metrics }, request, made);
      announcements.tell(made);
      return answer;
    } catch (error) {
      const told = toCheckpointError(error, request, givenUp(request));
      audit({ log, metrics }, request, told);
      throw told;
    } finally {
      metrics.underWay(-1);
      if (served) requests.delete(served);
    }
  }

  async function checkpoint(request: CheckpointRequest): Promise<MadeCheckpoint> {
    const begin = async () => {
      checkNames(request);
      refuseConflict(request);
      return await serve(request);
    };
    return await attend(request, begin, (made) => [made]);
  }

  async function checkpointPod(request: PodCheckpointRequest): Promise<MadeSet> {
    const whole = { ...request, ...wholePod(request.namespace, request.pod) };
    return await attend(
      whole,
      () => servePod(request),
      ({ checkpoints }) => checkpoints,
    );
  }

  /** Of a crash of this agent, and of the runtime. Never rejects: an agent without this works, too. */
  async function tidy(): Promise<void> {
    const problem = (error: unknown) =>
      log.error({ error: describeError(error) }, 'cannot look for what earlier checkpoints have left');
    await abandoned.load();
    await archives.repair().catch(problem);
  }

  async function reportLeftDumps(): Promise<void> {
    const startedMs = clock.now();
    const found = await runtime.dumpFolders().then(findLeftDumps, () => []);
    for (const { name, modifiedMs } of found.filter((dump) => dump.modifiedMs < startedMs)) {
      const facts = { path: name, modified: new Date(modifiedMs).toISOString() };
      log.warn(
        facts,
        'the container runtime has left a dump of a container’s memory; remove it when no checkpoint is under way',
      );
    }
  }

  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= closeOnce());
  async function closeOnce(): Promise<void> {
    closing.abort();
    const done = new AbortController();
    const waitMs = setDumper.holding ? closeHoldingMs : closeMs;
    await Promise.race([Promise.allSettled(requests), clock.sleep(waitMs, done.signal)]);
    done.abort();
    listening[Symbol.dispose]();
  }

  return {
    archives,
    isUnannounced: announcements.isUnannounced,
    checkpoint,
    checkpointPod,
    onMade: announcements.onMade,
    async run(signal, ready) {
      const stop = AbortSignal.any([signal, closing.signal]);
      const { isActive, untilFrozen } = drafts;
      const tried = new AbortController();
      const started = clock.sleep(readyMs, AbortSignal.any([tried.signal, stop])).then(ready);
      const recover = { ...own, pending, folder, abandoned, isActive, lockContainer, untilFrozen };
      await tidy();
      void reportLeftDumps();
      await keepRecovering(recover, stop, () => tried.abort());
      await started;
      await close();
    },
    [Symbol.asyncDispose]: close,
  };
}

const keyOf = ({ namespace, pod, container }: Target): string => `${namespace}/${pod}/${container}`;
