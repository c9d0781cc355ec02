import type { Clock, Logger, MetricsRegistry } from '../../base/index.ts';
import type { Runtime } from '../runtime/index.ts';
import type { ArchiveFolder } from './archive-folder.ts';
import type { MadeCheckpoint } from './dump/dump.ts';
import type { Target } from './errors.ts';
import type { MadeSet, PodCheckpointRequest } from './pod-set/index.ts';
import type { CheckpointSettings } from './settings.ts';

export interface CheckpointRequest extends Target {
  /** How long the runtime may take, waiting for a turn not counted; 0 or unset is the default of 2 minutes. */
  timeoutMs?: number;
  /** Aborts when the client goes away. */
  cancel: AbortSignal;
  /** Aborts when the agent stops, which aborts `cancel`, too. */
  stopping?: AbortSignal;
  /** Who asks, for the log. */
  requester: string;
  /** Called when all waiting is over and the dump begins. */
  onBegin?(): void;
}

/** What of the runtime is used. */
export type CheckpointRuntime = Pick<
  Runtime,
  | 'find'
  | 'findPod'
  | 'checkpoint'
  | 'hold'
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
  /** What counts now; asked anew for each request. Default: the defaults. */
  settings?: () => CheckpointSettings;
  /** Takes the metrics. */
  metrics?: MetricsRegistry;
  /** How long close() waits for containers to be proven to run; their journals stay otherwise. Default 0.5 s, for the server has waited 2 s before. */
  closeMs?: number;
  /** The same while the containers of a pod are held still: nobody but this process thaws them. Default 8 s. */
  closeHoldingMs?: number;
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
   * The same for all running containers of a pod as one set: they are frozen together, so that their archives are of one
   * moment, and there is a checkpoint of each or of none. Rejects with a CheckpointError that names the container.
   */
  checkpointPod(request: PodCheckpointRequest): Promise<MadeSet>;
  /** Whether a checkpoint of that id can be seen already, or soon, of which the listeners have not been told yet. */
  isUnannounced(id: string): boolean;
  /** Calls `listener` after each checkpoint that was made, until disposed of. */
  onMade(listener: (made: MadeCheckpoint) => void): Disposable;
  /**
   * Puts right what earlier checkpoints have left, at once and whenever one ends `stillFrozen`, trying again
   * for as long as the runtime is away. `ready` is called when what was left at the start has been tried, at once
   * when there is nothing, and after `readyMs` in any case. Runs until `signal` aborts, then closes. Only for one process at a
   * time on a folder: the holder of the agent's lock.
   */
  run(signal: AbortSignal, ready: () => void): Promise<void>;
}
