import { join, resolve } from 'node:path';
import { createBackoff, describeError, KeyedMutex, Semaphore, systemClock } from '../../base/index.ts';
import type { Announcements } from './announcements.ts';
import { createAnnouncements } from './announcements.ts';
import type { ArchiveFolder } from './archive-folder.ts';
import { openArchiveFolder } from './archive-folder.ts';
import { audit } from './audit.ts';
import type { AbandonedDumps } from './dump/abandoned-dumps.ts';
import { rememberAbandoned } from './dump/abandoned-dumps.ts';
import { ActiveDrafts } from './dump/active-drafts.ts';
import { createDiskSpace } from './dump/disk-space.ts';
import type { MadeCheckpoint } from './dump/dump.ts';
import { Dumper } from './dump/dump.ts';
import { checkNames, findRunning } from './dump/find-running.ts';
import { findLeftDumps } from './dump/left-dumps.ts';
import type { RecoverOptions } from './dump/recover.ts';
import { keepRecovering } from './dump/recover.ts';
import type { StopRequest } from './dump/stop-gate.ts';
import { StopGate } from './dump/stop-gate.ts';
import { startTimeLimit } from './dump/time-limit.ts';
import type { CheckpointError, Target } from './errors.ts';
import { createFailure, toCheckpointError, toPodTarget } from './errors.ts';
import type { CheckpointMetrics } from './metrics.ts';
import { createCheckpointMetrics } from './metrics.ts';
import type { MadeSet, PodCheckpointRequest } from './pod-set/index.ts';
import { SetDumper, serveSet } from './pod-set/index.ts';
import { defaultSettings } from './settings.ts';
import type { Checkpointer, CheckpointerOptions, CheckpointRequest } from './types.ts';

/** A Checkpointer for this process; there is one for each folder of checkpoints. */
export function createCheckpointer(options: CheckpointerOptions): Checkpointer {
  return new ContainerCheckpointer(options);
}

const stillPending =
  'an earlier checkpoint may have left it frozen; the agent is trying to resume it, try again later';

const defaults = {
  clock: systemClock,
  root: '/',
  defaultTimeoutMs: 120_000,
  closeMs: 500,
  closeHoldingMs: 8000,
  readyMs: 5000,
  settings: () => defaultSettings,
};

class ContainerCheckpointer implements Checkpointer {
  readonly archives: ArchiveFolder;
  readonly #options: typeof defaults & CheckpointerOptions;
  readonly #announcements: Announcements;
  readonly #abandoned: AbandonedDumps;
  readonly #metrics: CheckpointMetrics;
  readonly #resumedListener: Disposable;
  readonly #dumper: Dumper;
  readonly #setDumper: SetDumper;
  /** Ids of containers that may be frozen, by the names of their drafts. */
  readonly #pending = new Map<string, string>();
  readonly #drafts = new ActiveDrafts(this.#pending);
  readonly #stops: StopGate;
  readonly #containers = new KeyedMutex();
  readonly #slots = new Semaphore(() => this.#options.settings().maxConcurrent);
  readonly #requests = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;

  constructor(options: CheckpointerOptions) {
    this.#options = { ...defaults, ...options };
    const { runtime, log, clock, root, settings, nodeName } = this.#options;
    const folder = resolve(join(options.rootDir, 'checkpoints'));
    this.archives = openArchiveFolder(folder, log);
    this.#announcements = createAnnouncements(this.archives);
    this.#abandoned = rememberAbandoned(folder, clock, log);
    this.#metrics = createCheckpointMetrics(options.metrics);
    this.#resumedListener = runtime.onResumed(() => this.#metrics.recovered());
    this.#stops = new StopGate({ clock, killDump: (id) => this.#killDump(id) });
    const parts = { runtime, log, clock, root, settings, nodeName, abandoned: this.#abandoned };
    const shared = {
      ...parts,
      archives: this.#announcements.archives,
      room: createDiskSpace(),
      drafts: this.#drafts,
      stops: this.#stops,
    };
    this.#dumper = new Dumper(shared);
    this.#setDumper = new SetDumper(shared);
  }

  async checkpoint(request: CheckpointRequest): Promise<MadeCheckpoint> {
    return await this.#record(
      request,
      () => this.#checkpointContainer(request),
      (made) => [made],
    );
  }

  async checkpointPod(request: PodCheckpointRequest): Promise<MadeSet> {
    return await this.#record(
      { ...request, ...toPodTarget(request.namespace, request.pod) },
      () => this.#checkpointSet(request),
      ({ checkpoints }) => checkpoints,
    );
  }

  /** Admits and serves a request; logs, counts and announces its outcome. */
  async #record<T>(
    request: CheckpointRequest,
    serve: () => Promise<T>,
    listMade: (result: T) => readonly MadeCheckpoint[],
  ): Promise<T> {
    const sinks = { log: this.#options.log, metrics: this.#metrics };
    let served: Promise<T> | undefined;
    this.#metrics.underWay(1);
    try {
      this.#refuseTooMany(request);
      served = serve();
      this.#requests.add(served);
      const result = await served;
      const made = listMade(result);
      audit(sinks, request, made);
      this.#announcements.announce(made);
      return result;
    } catch (error) {
      const failure = toCheckpointError(error, request, this.#findGivenUp(request));
      audit(sinks, request, failure);
      throw failure;
    } finally {
      this.#metrics.underWay(-1);
      if (served) this.#requests.delete(served);
    }
  }

  /** The time limit counts the search and the dump, not the waits for the container and for a slot. */
  async #checkpointContainer(request: CheckpointRequest): Promise<MadeCheckpoint> {
    checkNames(request);
    this.#refuseConflict(request);
    const { runtime, clock, defaultTimeoutMs } = this.#options;
    const giveUp = AbortSignal.any([request.cancel, this.#closing.signal]);
    using _lock = await this.#lockContainer(request, giveUp);
    const timeoutMs = request.timeoutMs && request.timeoutMs > 0 ? request.timeoutMs : defaultTimeoutMs;
    const startedMs = clock.monotonicMs();
    using search = startTimeLimit(clock, timeoutMs);
    const found = await findRunning(runtime, request, search, giveUp);
    const usedMs = clock.monotonicMs() - startedMs;
    this.#refuseIfFrozen(request, found.id);
    using _slot = await this.#slots.acquire(giveUp);
    using limit = startTimeLimit(clock, timeoutMs, usedMs);
    const { namespace, pod, container, requester } = request;
    request.onBegin?.();
    const target = { namespace, pod, container };
    return await this.#dumper.dump({ target, found, requester, limit }, giveUp);
  }

  async #checkpointSet(request: PodCheckpointRequest): Promise<MadeSet> {
    const { runtime, clock, defaultTimeoutMs } = this.#options;
    const service = {
      runtime,
      dumper: this.#setDumper,
      clock,
      defaultTimeoutMs,
      lockContainer: (target: Target, cancel: AbortSignal) => this.#lockContainer(target, cancel),
      acquireSlot: (cancel: AbortSignal) => this.#slots.acquire(cancel),
      refuseConflict: (target: Target) => this.#refuseConflict(target),
      refuseIfFrozen: (target: Target, id: string) => this.#refuseIfFrozen(target, id),
    };
    return await serveSet(service, request, AbortSignal.any([request.cancel, this.#closing.signal]));
  }

  #lockContainer(target: Target, cancel: AbortSignal): Promise<Disposable> {
    return this.#containers.acquire(composeKey(target), cancel);
  }

  #refuseIfFrozen(target: Target, id: string): void {
    if ([...this.#pending.values()].includes(id)) throw createFailure('stillFrozen', target, stillPending);
  }

  #refuseTooMany(request: Target): void {
    const { maxConcurrent, maxWaiting } = this.#options.settings();
    if (this.#requests.size >= maxConcurrent + maxWaiting) {
      const why = `${this.#requests.size} checkpoints are under way or wait already, try again later`;
      throw createFailure('busy', request, why);
    }
  }

  #refuseConflict(request: Target): void {
    const { onConflict } = this.#options.settings();
    if (onConflict === 'Refuse' && this.#containers.isLocked(composeKey(request))) {
      const why = 'another checkpoint of it is under way, try again when it has ended';
      throw createFailure('conflict', request, why);
    }
  }

  /** Why this side gave the request up: the agent stops, or the client went away. Undefined: it did not. */
  #findGivenUp(request: CheckpointRequest): CheckpointError | undefined {
    const stops = this.#closing.signal.aborted || request.stopping?.aborted;
    if (stops) return createFailure('stopping', request, 'the agent is being stopped');
    if (request.cancel.aborted) return createFailure('cancelled', request, 'the client went away');
    return undefined;
  }

  beforeStop(request: StopRequest, signal: AbortSignal): Promise<Disposable> {
    return this.#stops.beginStop(request, signal);
  }

  isUnderWay(containerId: string): boolean {
    return this.#stops.isDumping(containerId);
  }

  onBegin(listener: (containerId: string) => void): Disposable {
    return this.#stops.onDump(listener);
  }

  /** Never rejects: the stop goes on in any case. */
  async #killDump(container: string): Promise<void> {
    const { runtime, log } = this.#options;
    try {
      const processes = await runtime.killDump(container);
      log.warn(
        { container, processes },
        'a checkpoint hung while its container was to stop; it has been killed',
      );
    } catch (error) {
      log.warn({ container, error: describeError(error) }, 'a checkpoint hangs and cannot be killed');
    }
  }

  isUnannounced(id: string): boolean {
    return this.#announcements.isUnannounced(id);
  }

  onMade(listener: (made: MadeCheckpoint) => void): Disposable {
    return this.#announcements.onMade(listener);
  }

  async run(signal: AbortSignal, ready: () => void): Promise<void> {
    const { runtime, log, clock, root, readyMs } = this.#options;
    const stop = AbortSignal.any([signal, this.#closing.signal]);
    const tried = new AbortController();
    const started = clock.sleep(readyMs, AbortSignal.any([tried.signal, stop])).then(ready);
    const recover: RecoverOptions = {
      runtime,
      log,
      clock,
      root,
      folder: this.archives.path,
      pending: this.#pending,
      abandoned: this.#abandoned,
      isActive: (draft) => this.#drafts.isActive(draft),
      untilFrozen: (cancel) => this.#drafts.untilFrozen(cancel),
      lockContainer: (target, cancel) => this.#lockContainer(target, cancel),
    };
    await this.#repairFolder();
    void this.#reportLeftDumps(stop);
    await keepRecovering(recover, stop, () => tried.abort());
    await started;
    await this[Symbol.asyncDispose]();
  }

  /** After a crash of the agent or of the runtime. Never rejects: an agent whose folder is damaged works all the same. */
  async #repairFolder(): Promise<void> {
    await this.#abandoned.load();
    await this.archives.repair().catch((error: unknown) => {
      const facts = { error: describeError(error) };
      this.#options.log.error(facts, 'cannot look for what earlier checkpoints have left');
    });
  }

  /** Once the runtime answers. Those that were begun before this process are no checkpoints of it. */
  async #reportLeftDumps(stop: AbortSignal): Promise<void> {
    const { runtime, log, clock } = this.#options;
    const startedMs = clock.now();
    const backoff = createBackoff({ initialMs: 1000, maxMs: 30_000 });
    while (!stop.aborted) {
      const found = await runtime.dumpFolders().then(findLeftDumps, () => undefined);
      for (const { name, modifiedMs } of (found ?? []).filter((dump) => dump.begunMs < startedMs)) {
        const facts = { path: name, modified: new Date(modifiedMs).toISOString() };
        log.warn(
          facts,
          'the container runtime has left a dump of a container’s memory; remove it when no checkpoint is under way',
        );
      }
      if (found) return;
      await clock.sleep(backoff.next(), stop);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { clock, closeMs, closeHoldingMs } = this.#options;
    this.#closing.abort();
    const done = new AbortController();
    const waitMs = this.#setDumper.holding ? closeHoldingMs : closeMs;
    await Promise.race([Promise.allSettled(this.#requests), clock.sleep(waitMs, done.signal)]);
    done.abort();
    this.#resumedListener[Symbol.dispose]();
  }
}

const composeKey = ({ namespace, pod, container }: Target): string => `${namespace}/${pod}/${container}`;
