import type { Clock, Logger, MetricsRegistry } from '../../base/index.ts';
import type { Runtime } from '../runtime/index.ts';
import type { ArchiveFolder } from './archive-folder.ts';
import type { MadeCheckpoint } from './dump/dump.ts';
import type { StopRequest } from './dump/stop-gate.ts';
import type { Target } from './errors.ts';
import type { MadeSet, PodCheckpointRequest } from './pod-set/index.ts';
import type { CheckpointSettings } from './settings.ts';

export interface CheckpointRequest extends Target {
  /** How long the runtime may take; waiting for a slot is not counted. 0 or unset: the default of 2 minutes. */
  timeoutMs?: number;
  /** Aborts when the client goes away. */
  cancel: AbortSignal;
  /** Aborts when the agent stops, which aborts `cancel`, too. */
  stopping?: AbortSignal;
  /** Who asks, for the log. */
  requester: string;
  /** Called when the request no longer waits and the dump begins. */
  onBegin?(): void;
}

/** The methods of the runtime that are used. */
export type CheckpointRuntime = Pick<
  Runtime,
  | 'find'
  | 'findPod'
  | 'checkpoint'
  | 'hold'
  | 'killDump'
  | 'thaw'
  | 'inspect'
  | 'memoryBytes'
  | 'dumpFolders'
  | 'status'
  | 'onResumed'
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
  /** The settings in effect; read again for each request. Default: the defaults. */
  settings?: () => CheckpointSettings;
  /** Where the metrics are registered. */
  metrics?: MetricsRegistry;
  /**
   * How long disposal waits until containers are proven to run; otherwise their journals stay. Default 0.5 s, because the
   * server has waited 2 s before.
   */
  closeMs?: number;
  /** The same while the containers of a pod are held frozen: only this process can thaw them. Default 8 s. */
  closeHoldingMs?: number;
  /** How long run() delays `ready` while it recovers what was left behind; default 5 s. */
  readyMs?: number;
  /** The root of the file system, for the id of the boot; default `/`. */
  root?: string;
}

/** Makes checkpoints of running containers (specification 4.11). */
export interface Checkpointer extends AsyncDisposable {
  /** The folder of checkpoints: the only way to list, change or remove them. */
  readonly archives: ArchiveFolder;
  /**
   * Writes a checkpoint of the container into the folder and returns it: a complete, durable tar archive, mode 0600, with
   * its sidecar. Rejects with a CheckpointError. One at a time for each container; the next one waits or is refused, as
   * configured. The container runs on in any case; `stillFrozen` says that this is not proven yet. Until it is, further
   * checkpoints of that container are refused with the same reason.
   */
  checkpoint(request: CheckpointRequest): Promise<MadeCheckpoint>;
  /**
   * The same for all running containers of a pod as one set: they are frozen together, so that their archives are of the
   * same moment, and either all get a checkpoint or none. Rejects with a CheckpointError that names the container.
   */
  checkpointPod(request: PodCheckpointRequest): Promise<MadeSet>;
  /**
   * To be called before a container is stopped. Resolves when no checkpoint needs it any more, which a bounded time forces, so
   * that a stop never waits for ever; none of it begins until the result is disposed of. Rejects with the reason of `signal`
   * when that aborts.
   */
  beforeStop(request: StopRequest, signal: AbortSignal): Promise<Disposable>;
  /** Whether a checkpoint of the container is under way, from before it is frozen until it is proven to run again. */
  isUnderWay(containerId: string): boolean;
  /** Calls `listener` with the id of a container before it is frozen for a checkpoint, until disposal. */
  onBegin(listener: (containerId: string) => void): Disposable;
  /** Whether the checkpoint of that id is visible, or about to be, while the listeners have not been called for it yet. */
  isUnannounced(id: string): boolean;
  /** Calls `listener` for each checkpoint that was made, until disposal. */
  onMade(listener: (made: MadeCheckpoint) => void): Disposable;
  /**
   * Recovers what earlier checkpoints have left behind, at the start and whenever one ends `stillFrozen`, and tries again
   * for as long as the runtime is unavailable. Calls `ready` when everything that was left at the start has been tried
   * once, at once when there is nothing, and after `readyMs` in any case. Runs until `signal` aborts, then closes. Only
   * one process at a time may run it on a folder: the holder of the agent's lock.
   */
  run(signal: AbortSignal, ready: () => void): Promise<void>;
}
