import type { Clock, Logger } from '../../base/index.ts';
import { systemClock, untilAborted } from '../../base/index.ts';
import type { Cgroups } from './cgroup.ts';
import { openCgroups } from './cgroup.ts';
import type { CheckpointParts } from './checkpoint.ts';
import { checkpointSafely } from './checkpoint.ts';
import type { CallOptions, Connection } from './connection.ts';
import { openConnection } from './connection.ts';
import { findDumpFolders } from './dump-folders.ts';
import { killDumpProcesses, mayBeDumped } from './dump-processes.ts';
import { defaultEndpoints } from './endpoint.ts';
import { RuntimeError } from './errors.ts';
import { findContainer, findPodMembers } from './find.ts';
import { holdContainers } from './hold.ts';
import type { ImageWatch } from './images.ts';
import { watchImages } from './images.ts';
import { containerMemory, inspectContainer } from './memory.ts';
import type { StatusWatch } from './status.ts';
import { watchStatus } from './status.ts';
import { pauseTask, readTaskState, resumeTask } from './tasks.ts';
import type { Ending, ThawOptions } from './thaw.ts';
import { proveRunning } from './thaw.ts';
import type {
  CheckpointHints,
  ContainerFacts,
  DumpFolder,
  FoundContainer,
  FoundMember,
  Hold,
  ImageStore,
  Pause,
  Runtime,
  RuntimeStatus,
  TaskState,
  Thawed,
} from './types.ts';

export interface RuntimeOptions {
  /** Such as `unix:///run/containerd/containerd.sock`; without it the first of `defaults` that exists. */
  endpoint?: string | undefined;
  /** Where to look when no endpoint is given; default containerd's, CRI-O's and cri-dockerd's sockets. */
  defaults?: readonly string[];
  /** Called with the path of a socket before each call; where it rejects, nothing is sent. */
  claim?: (socket: string) => Promise<void>;
  log: Logger;
  /** Default the system's. */
  clock?: Clock;
  /** The service of images; default the same. */
  imageEndpoint?: string | undefined;
  /** Between two queries of the images; default 30 s. */
  imageIntervalMs?: number;
  /** For calls that may take long; default 2 minutes (runtimeRequestTimeout). Checkpoints have none. */
  requestTimeoutMs?: number;
  /** Between two queries of the runtime's status; default 5 s. */
  statusIntervalMs?: number;
  /** For calls that a healthy runtime answers at once: status, task state, resume; default 5 s. */
  statusTimeoutMs?: number;
  /** How long to try to prove that a container runs after its checkpoint; default 60 s. */
  thawTimeoutMs?: number;
  /** How long a container must be observed running after an abandoned checkpoint; default 1.5 s. */
  settleMs?: number;
  /** The root of the file system, for the kernel's files; default `/`. */
  root?: string;
}

/**
 * Connects to the node's container runtime and stays connected: returns at once, whether or not there is one.
 * Throws an Error that says what is wrong when the endpoint is malformed. The caller disposes of it.
 */
export function connectRuntime(options: RuntimeOptions): Runtime & AsyncDisposable {
  return new CriRuntime(options);
}

/** A Runtime over CRI, with the states of tasks from containerd's own service where there is one. */
class CriRuntime implements Runtime, AsyncDisposable {
  readonly #connection: Connection;
  /** The same as the other one when there is no separate service for images. */
  readonly #imageConnection: Connection;
  readonly #root: string;
  readonly #cgroups: Cgroups;
  readonly #statuses: StatusWatch;
  readonly #images: ImageWatch;
  readonly #findDumpFolders: () => Promise<readonly DumpFolder[]>;
  readonly #thawOptions: Omit<ThawOptions, 'task' | 'resume'>;
  readonly #checkpointParts: CheckpointParts;
  readonly #requestTimeoutMs: number;
  readonly #statusTimeoutMs: number;
  readonly #resumedListeners = new Set<(id: string) => void>();
  readonly #closing = new AbortController();

  constructor(options: RuntimeOptions) {
    const { log, clock = systemClock, requestTimeoutMs = 120_000, statusTimeoutMs = 5000 } = options;
    const { endpoint, defaults = defaultEndpoints, imageEndpoint, root = '/' } = options;
    const {
      statusIntervalMs = 5000,
      imageIntervalMs = 30_000,
      thawTimeoutMs = 60_000,
      settleMs = 1500,
    } = options;
    this.#requestTimeoutMs = requestTimeoutMs;
    this.#statusTimeoutMs = statusTimeoutMs;
    const { claim } = options;
    const connection = openConnection(endpoint ? [endpoint] : defaults, { claim });
    this.#connection = connection;
    this.#root = root;
    this.#cgroups = openCgroups(root);
    const watchOptions = { log, clock, timeoutMs: statusTimeoutMs };
    this.#statuses = watchStatus({ ...watchOptions, connection, intervalMs: statusIntervalMs });
    this.#imageConnection = imageEndpoint ? openConnection([imageEndpoint], { claim }) : connection;
    this.#images = watchImages({
      ...watchOptions,
      connection: this.#imageConnection,
      intervalMs: imageIntervalMs,
      onStatusChange: (listener) => this.#statuses.onChange(listener),
    });
    this.#findDumpFolders = findDumpFolders(connection, root, statusTimeoutMs);
    const resumed = (id: string): void => this.#announceResumed(id);
    this.#thawOptions = { resumed, clock, log, timeoutMs: thawTimeoutMs, settleMs };
    this.#checkpointParts = {
      connection,
      task: (id) => this.task(id),
      prove: (id, ending) => this.#prove(id, ending),
      clock,
      openFreezer: (pid) => this.#cgroups.openFreezer(pid),
    };
  }

  status(): RuntimeStatus {
    return this.#statuses.current();
  }

  refresh(): Promise<RuntimeStatus> {
    return this.#statuses.refresh();
  }

  onStatusChange(listener: (status: RuntimeStatus) => void): Disposable {
    return this.#statuses.onChange(listener);
  }

  images(): ImageStore {
    return this.#images.current();
  }

  onImagesChange(listener: () => void): Disposable {
    return this.#images.onChange(listener);
  }

  find(
    namespace: string,
    pod: string,
    container: string,
    cancel?: AbortSignal,
  ): Promise<FoundContainer | 'noPod' | 'noContainer'> {
    return findContainer(this.#connection, this.#toCallOptions(cancel), namespace, pod, container);
  }

  findPod(namespace: string, pod: string, cancel?: AbortSignal): Promise<readonly FoundMember[] | 'noPod'> {
    return findPodMembers(this.#connection, this.#toCallOptions(cancel), namespace, pod);
  }

  hold(): Hold {
    return holdContainers({
      ...this.#checkpointParts,
      pause: (id, cancel) => pauseTask(this.#connection, id, this.#statusTimeoutMs, cancel),
      resume: (id) => this.resume(id),
    });
  }

  checkpoint(id: string, file: string, cancel: AbortSignal, hints?: CheckpointHints): Promise<Pause> {
    return checkpointSafely(this.#checkpointParts, id, file, cancel, hints);
  }

  thaw(id: string, cancel?: AbortSignal): Promise<Thawed> {
    return this.#prove(id, 'abandoned', cancel);
  }

  killDump(id: string): Promise<number> {
    return killDumpProcesses(id, this.#root);
  }

  async task(id: string): Promise<TaskState> {
    const { state, by } = await readTaskState(this.#connection, id, this.#statusTimeoutMs);
    return by === 'cri' && state === 'running' && (await this.#isFrozenInKernel(id)) ? 'paused' : state;
  }

  resume(id: string): Promise<void> {
    return resumeTask(this.#connection, id, this.#statusTimeoutMs);
  }

  onResumed(listener: (id: string) => void): Disposable {
    this.#resumedListeners.add(listener);
    return { [Symbol.dispose]: () => void this.#resumedListeners.delete(listener) };
  }

  inspect(id: string): Promise<ContainerFacts> {
    return inspectContainer(this.#connection, id, this.#statusTimeoutMs);
  }

  dumpFolders(): Promise<readonly DumpFolder[]> {
    return this.#findDumpFolders();
  }

  async memoryBytes(id: string, pid?: number): Promise<number> {
    const first = pid ?? (await this.inspect(id)).pid;
    return containerMemory(this.#connection, this.#cgroups, id, first, this.#statusTimeoutMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#statuses, this.#images].map((watch) => watch[Symbol.asyncDispose]()));
    this.#connection[Symbol.dispose]();
    this.#imageConnection[Symbol.dispose]();
  }

  /** CRI reports a frozen container as running; without containerd's own service the kernel knows. */
  async #isFrozenInKernel(id: string): Promise<boolean> {
    const { pid } = await this.inspect(id);
    return pid !== undefined && (await this.#cgroups.frozen(pid)) === true;
  }

  #prove(id: string, ending: Ending, cancel = this.#closing.signal): Promise<Thawed> {
    const giveUp = AbortSignal.any([cancel, this.#closing.signal]);
    const isAnswered = ending === 'answered';
    const calls = {
      task: (of: string) => unlessGivenUp(isAnswered ? this.task(of) : this.#taskAfterDump(of), giveUp),
      resume: (of: string) => unlessGivenUp(isAnswered ? this.resume(of) : this.#thaw(of), giveUp),
    };
    return proveRunning({ ...this.#thawOptions, ...calls }, id, ending, giveUp);
  }

  /**
   * The state of a task whose dump nobody waits for any more. It may go on without the runtime: criu began with a task that was
   * frozen, and at its end it freezes it again, whatever has happened meanwhile and whatever the runtime says. What cannot be
   * looked at on this machine is as the runtime says.
   */
  async #taskAfterDump(id: string): Promise<TaskState> {
    const state = await this.task(id);
    if (state !== 'running') return state;
    if (await mayBeDumped(id, this.#root).catch(() => false)) {
      throw new RuntimeError('stillFrozen', 'criu is still at a dump that may be of this container');
    }
    return (await this.#isFrozenInKernel(id).catch(() => false)) ? 'paused' : 'running';
  }

  /** Also one of which the runtime believes that it runs: it thaws only what it has frozen itself. */
  async #thaw(id: string): Promise<void> {
    const state = await this.task(id).catch(() => 'unknown');
    if (state !== 'running') return await this.resume(id);
    const { pid } = await this.inspect(id);
    if (pid !== undefined) await this.#cgroups.thaw(pid, id);
  }

  #announceResumed(id: string): void {
    for (const listener of [...this.#resumedListeners]) listener(id);
  }

  #toCallOptions(cancel: AbortSignal | undefined): CallOptions {
    return { deadlineMs: this.#requestTimeoutMs, ...(cancel ? { cancel } : {}) };
  }
}

/** Ends the wait when `giveUp` aborts: each call of a hanging runtime takes its whole timeout. */
async function unlessGivenUp<T>(call: Promise<T>, giveUp: AbortSignal): Promise<T> {
  const ended = new AbortController();
  const given = untilAborted(AbortSignal.any([giveUp, ended.signal])).then((): never => {
    throw new RuntimeError('cancelled', 'given up while the container runtime was asked');
  });
  try {
    return await Promise.race([call, given]);
  } finally {
    given.catch(() => undefined);
    ended.abort();
  }
}
