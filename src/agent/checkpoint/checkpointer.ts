import { join, resolve } from 'node:path';
import { checkName } from '../../api/index.ts';
import type { Clock, Logger, Registry } from '../../base/index.ts';
import { describeError, systemClock } from '../../base/index.ts';
import type { FoundContainer, Runtime } from '../runtime/index.ts';
import { rememberAbandoned } from './abandoned.ts';
import type { ArchiveFolder } from './archive-folder.ts';
import { openArchiveFolder } from './archive-folder.ts';
import { createDiskRoom } from './disk-room.ts';
import type { MadeCheckpoint } from './dump.ts';
import { createDumper } from './dump.ts';
import type { Target } from './errors.ts';
import { CheckpointError, failed, noContainer, noPod, timedOut, toCheckpointError } from './errors.ts';
import { findLeftDumps } from './left-dumps.ts';
import { checkpointMetrics } from './metrics.ts';
import { keepRecovering } from './recover.ts';
import type { CheckpointSettings } from './settings.ts';
import { defaultSettings } from './settings.ts';
import type { TimeLimit } from './time-limit.ts';
import { startTimeLimit } from './time-limit.ts';
import { createKeyedTurns, createTurns } from './turns.ts';

export interface CheckpointRequest extends Target {
  /** How long the runtime may take, waiting for a turn not counted; 0 or unset is the default of 2 minutes. */
  timeoutMs?: number;
  /** Aborts when the client goes away. */
  cancel: AbortSignal;
  /** Who asks, for the log. */
  requester: string;
}

/** What of the runtime is used. */
export type CheckpointRuntime = Pick<
  Runtime,
  'find' | 'checkpoint' | 'thaw' | 'inspect' | 'memoryBytes' | 'dumpFolders' | 'status' | 'onResumed'
>;

export interface CheckpointerOptions {
  runtime: CheckpointRuntime;
  /** The agent's base directory; archives go to `checkpoints` in it. */
  rootDir: string;
  log: Logger;
  clock?: Clock;
  /** For requests without a timeout; default 2 minutes (runtimeRequestTimeout). */
  defaultTimeoutMs?: number;
  /** The node's name, for the records. */
  nodeName: string;
  /** What counts now; asked anew for each request. Default: the defaults. */
  settings?: () => CheckpointSettings;
  /** Takes the metrics. */
  metrics?: Registry;
  /** How long close() waits for containers to be proven to run; their journals stay otherwise. Default 0.5 s, for the server has waited 2 s before. */
  closeMs?: number;
  /** How long run() holds back `ready` while it puts right what was left; default 5 s. */
  readyMs?: number;
  /** The root of the file system, for the id of the boot; default `/`. */
  root?: string;
}

/** Makes checkpoints of running containers (specification 4.11). */
export interface Checkpointer extends AsyncDisposable {
  /** Where the checkpoints are; whoever lists, changes or removes them does it there. */
  readonly archives: ArchiveFolder;
  /**
   * Writes a checkpoint of the container into the folder of checkpoints and answers what is known of it: a complete,
   * durable tar archive, mode 0600, with its sidecar. Rejects with a CheckpointError. One at a time for each container,
   * the next one waits or is refused, as it is configured. The container runs on in any case; `stillFrozen` says that this is not proven yet. Until
   * it is, further checkpoints of that container are refused with the same reason.
   */
  checkpoint(request: CheckpointRequest): Promise<MadeCheckpoint>;
  /**
   * Puts right what earlier checkpoints have left, at once and whenever one ends `stillFrozen`, trying again
   * for as long as the runtime is away. `ready` is called when what was left at the start has been tried, at once
   * when there is nothing, and after `readyMs` in any case. Runs until `signal` aborts, then closes. Only for one process at a
   * time on a folder: the holder of the agent's lock.
   */
  run(signal: AbortSignal, ready: () => void): Promise<void>;
}

const stillPending =
  'an earlier checkpoint may have left it frozen; the agent is trying to resume it, try again later';

export function createCheckpointer(options: CheckpointerOptions): Checkpointer {
  const { runtime, log, clock = systemClock, root = '/' } = options;
  const { defaultTimeoutMs = 120_000, closeMs = 500, readyMs = 5000, nodeName } = options;
  const { settings = () => defaultSettings } = options;
  const folder = resolve(join(options.rootDir, 'checkpoints'));
  const archives = openArchiveFolder(folder, log);
  const abandoned = rememberAbandoned(folder, clock, log);
  const metrics = checkpointMetrics(options.metrics);
  const listening = runtime.onResumed(() => metrics.recovered());
  const closing = new AbortController();
  const turns = createKeyedTurns();
  const slots = createTurns(() => settings().maxConcurrent);
  const requests = new Set<Promise<unknown>>();
  const pending = new Map<string, string>();
  const room = createDiskRoom();
  const own = { runtime, log, clock, root, pending };
  const dumper = createDumper({ ...own, archives, room, abandoned, nodeName, settings });

  const takeTurn = (target: Target, cancel: AbortSignal): Promise<Disposable> =>
    turns.take(keyOf(target), cancel);

  async function serve(request: CheckpointRequest): Promise<MadeCheckpoint> {
    const giveUp = AbortSignal.any([request.cancel, closing.signal]);
    using _turn = await takeTurn(request, giveUp);
    const timeoutMs = request.timeoutMs && request.timeoutMs > 0 ? request.timeoutMs : defaultTimeoutMs;
    const startedMs = clock.monotonicMs();
    using search = startTimeLimit(clock, timeoutMs);
    const found = await findRunning(runtime, request, search, giveUp);
    const usedMs = clock.monotonicMs() - startedMs;
    if ([...pending.values()].includes(found.id)) throw failed('stillFrozen', request, stillPending);
    using _slot = await slots.take(giveUp);
    using limit = startTimeLimit(clock, timeoutMs, usedMs);
    const { namespace, pod, container, requester } = request;
    return await dumper.dump({ target: { namespace, pod, container }, found, requester, limit }, giveUp);
  }

  /** Why a request did not run to its end, when that was not the runtime's doing. */
  function givenUp(request: CheckpointRequest): CheckpointError | undefined {
    if (closing.signal.aborted) return failed('stopping', request, 'the agent is being stopped');
    if (request.cancel.aborted) return failed('cancelled', request, 'the client went away');
    return undefined;
  }

  /** Refuses what need not be begun. */
  function admit(request: CheckpointRequest): void {
    checkNames(request);
    const { maxConcurrent, maxWaiting, onConflict } = settings();
    if (requests.size >= maxConcurrent + maxWaiting) {
      const why = `${requests.size} checkpoints are under way or wait already, try again later`;
      throw failed('busy', request, why);
    }
    if (onConflict === 'Refuse' && turns.isTaken(keyOf(request))) {
      throw failed('conflict', request, 'another checkpoint of it is under way, try again when it has ended');
    }
  }

  /** The one line that tells for each request who has asked for what and what came of it. */
  function audit(request: CheckpointRequest, told: MadeCheckpoint | CheckpointError): void {
    const { namespace, pod, container, requester } = request;
    const asked = { audit: 'checkpoint', namespace, pod, container, requester };
    if (told instanceof CheckpointError) {
      metrics.failed(told.reason);
      log.warn({ ...asked, result: told.reason }, told.message);
      return;
    }
    const { id, containerId, sizeBytes, durationMs, pausedMs, sha256 } = told.record;
    metrics.made(told.record);
    const made = { id, containerId, path: told.path, bytes: sizeBytes, sha256, durationMs, pausedMs };
    log.info({ ...asked, result: 'made', ...made }, 'checkpoint made');
  }

  async function checkpoint(request: CheckpointRequest): Promise<MadeCheckpoint> {
    let served: Promise<MadeCheckpoint> | undefined;
    metrics.underWay(1);
    try {
      admit(request);
      served = serve(request);
      requests.add(served);
      const made = await served;
      audit(request, made);
      return made;
    } catch (error) {
      const told = toCheckpointError(error, request, givenUp(request));
      audit(request, told);
      throw told;
    } finally {
      metrics.underWay(-1);
      if (served) requests.delete(served);
    }
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
    await Promise.race([Promise.allSettled(requests), clock.sleep(closeMs, done.signal)]);
    done.abort();
    listening[Symbol.dispose]();
  }

  return {
    archives,
    checkpoint,
    async run(signal, ready) {
      const stop = AbortSignal.any([signal, closing.signal]);
      const { isActive, untilFrozen } = dumper;
      const tried = new AbortController();
      const started = clock.sleep(readyMs, AbortSignal.any([tried.signal, stop])).then(ready);
      const recover = { ...own, folder, abandoned, isActive, takeTurn, untilFrozen };
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

/** A name that no object can have means an object that does not exist; and it never becomes part of a path. */
function checkNames(target: Target): void {
  if (checkName('label', target.namespace) ?? checkName('subdomain', target.pod)) throw noPod();
  if (checkName('label', target.container)) throw noContainer(target);
}

async function findRunning(
  runtime: Pick<Runtime, 'find'>,
  target: Target,
  limit: TimeLimit,
  cancel: AbortSignal,
): Promise<FoundContainer> {
  const found = await find(runtime, target, limit, cancel);
  if (found === 'noPod') throw noPod();
  if (found === 'noContainer') throw noContainer(target);
  if (found.state === 'running' || found.state === 'unknown') return found;
  throw failed('notRunning', target, found.state === 'created' ? 'it has not started yet' : 'it has ended');
}

async function find(
  runtime: Pick<Runtime, 'find'>,
  target: Target,
  limit: TimeLimit,
  cancel: AbortSignal,
): ReturnType<Runtime['find']> {
  const { namespace, pod, container } = target;
  try {
    return await runtime.find(namespace, pod, container, AbortSignal.any([cancel, limit.over]));
  } catch (error) {
    if (!limit.over.aborted || cancel.aborted) throw error;
    throw timedOut(target, limit.seconds, error);
  }
}
