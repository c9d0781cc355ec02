import type { Pod } from '../../../api/index.ts';
import type { ImageState } from '../../images/index.ts';
import type { VolumesState } from '../../volumes/index.ts';
import type { PodView } from '../view/types.ts';

/** Which list of the spec a container stands in; a sidecar is an init container with the restart policy Always. */
export type ContainerType = 'init' | 'sidecar' | 'regular' | 'ephemeral';

/** Where a pod comes from, as in its annotation `kubernetes.io/config.source`. */
export type PodOrigin = 'file' | 'http' | 'api';

/** Why a pod ends, once that is decided; it is kept, and never taken back. */
export interface Termination {
  /**
   * `deleted`: its object is being deleted; `gone`: its object or manifest is not there any more; `failed`: the node ends it
   * (rejected, evicted, preempted, past its deadline, shutdown), and its status says so.
   */
  readonly cause: 'deleted' | 'gone' | 'failed';
  /** Seconds for its containers to end, from `sinceMs` on; only ever made shorter. */
  readonly graceSeconds: number;
  readonly sinceMs: number;
  /** For `failed`: what the status of the pod says, such as `Evicted`, `DeadlineExceeded`. */
  readonly reason?: string;
  readonly message?: string;
  /** For `failed`: the message of the condition DisruptionTarget; undefined: the pod has none. */
  readonly disruption?: string;
}

/** What the agent itself remembers of a pod, in a file that outlives it. Times are milliseconds of the wall clock. */
export interface PodRecord {
  /** When the agent took the pod up: `status.startTime`. */
  readonly takenMs: number;
  readonly termination?: Termination;
  /** Whether the node accepted it once; then it is not asked again. */
  readonly isAdmitted: boolean;
  /** Of the manifest that it was taken up from, which may change though the uid stays; undefined: of none, or not known. */
  readonly manifestHash?: string;
  /** The highest attempt of a sandbox that was made; undefined before the first. */
  readonly sandboxAttempt?: number;
  /** When the runtime was last asked for a sandbox or container that it has not answered: it may make that though nobody waits any more. */
  readonly askedMs?: number;
  /** The addresses it had last: they stay in its status when it has ended. */
  readonly ips: readonly string[];
  /** By container name. */
  readonly containers: Readonly<Record<string, ContainerRecord>>;
  /** Whether everything outside the runtime (volumes, cgroup, devices) is released. */
  readonly isReleased?: boolean;
  /** What the node has given the pod; undefined where it is always what its spec asks for. */
  readonly allocation?: Allocation;
  /** While a resize is carried out: what is in force for the pod as a whole. */
  readonly replaced?: Allocation;
  /** Why the node has not given it yet what its spec asks for. */
  readonly pendingResize?: PendingResize;
  /** Whether the runtime is to keep nothing of it once it has ended: the node is short of disk. */
  readonly isCleared?: boolean;
}

/** Quantities by the name of the resource. */
type Quantities = Readonly<Record<string, string>>;

export interface GivenResources {
  readonly requests?: Quantities;
  readonly limits?: Quantities;
}

export interface Allocation {
  /** Of the pod whose spec asked for it. */
  readonly generation: number;
  /** By container name: of regular containers and sidecars. */
  readonly containers: Readonly<Record<string, GivenResources>>;
  /** Of the pod as a whole, beside its containers. */
  readonly pod?: GivenResources;
}

export interface PendingResize {
  /** `Deferred`: there is no room now; `Infeasible`: it can never be given. */
  readonly reason: 'Deferred' | 'Infeasible';
  readonly message: string;
  readonly sinceMs: number;
  /** Of the pod whose spec asked for it. */
  readonly generation: number;
}

export interface ContainerRecord {
  /** The highest attempt that was tried, whether or not it came to be; undefined before the first. */
  readonly attempt?: number;
  /** The newest container that is known to have run. */
  readonly made?: { readonly attempt: number; readonly restartCount: number };
  /** The highest attempt of which a log was left, when nothing else was known of it: as many restarts there have been at least. */
  readonly loggedAttempt?: number;
  /** The wait before the next restart. */
  readonly backoff?: RestartBackoff;
  /** How it ended last, for where the runtime has forgotten it. */
  readonly lastExit?: ExitRecord;
  /** Why the last try to start it failed, until one succeeds. */
  readonly failure?: StartFailure;
  /** The id of the container that was stopped so as to start another: that one follows whatever the policy says. */
  readonly restartOf?: string;
  /** What the container of that attempt was made with, or was resized to. */
  readonly given?: {
    readonly attempt: number;
    readonly resources: GivenResources;
    readonly pod?: GivenResources;
    /** It is being resized, or that was cut off: it may have been given something else already. */
    readonly isUnsure?: boolean;
  };
  /** What its probes made of it last. */
  readonly probed?: ProbedRecord;
}

/** For the next start of the agent: until a probe has said otherwise, this counts. */
export interface ProbedRecord {
  /** Of the container. */
  readonly id: string;
  readonly isStarted: boolean;
  readonly isReady: boolean;
}

/** How long the next restart of a container waits from its end on; see plan/backoff.ts. */
export interface RestartBackoff {
  /** Of the container, its image and its resources: a change of these begins again. */
  readonly key: string;
  readonly waitMs: number;
  /** When the last restart was decided. */
  readonly sinceMs: number;
  /** The id of the container whose end that restart followed: it waits no second time for the same end. */
  readonly afterId?: string;
}

export interface ExitRecord {
  readonly id: string;
  readonly attempt: number;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
  readonly startedMs: number | undefined;
  readonly finishedMs: number;
  /** Undefined: not known, or of no matter any more. */
  readonly sandboxId?: string;
  /** It says nothing about what is to be done: all containers of the pod were restarted since. */
  readonly isHistory?: boolean;
}

/** As `state.waiting` says it. */
export interface StartFailure {
  /** Such as `CreateContainerConfigError`, `CreateContainerError`, `RunContainerError`, `PostStartHookError`. */
  readonly reason: string;
  readonly message: string;
  readonly atMs: number;
  /** How often in a row. */
  readonly count: number;
  /** What it lacked may be there now: it is tried again at once. */
  readonly isDue?: boolean;
}

/** Why a pod's sandbox could not be made, and the like. */
export interface PodFailure {
  /** Such as `FailedCreatePodSandBox`. */
  readonly reason: string;
  readonly message: string;
  readonly atMs: number;
  readonly count: number;
}

/** What probes say of a container; without a probe, undefined. */
export interface ProbeResults {
  /** Of which container; undefined: the one that runs. */
  readonly containerId?: string;
  readonly startup?: boolean | undefined;
  readonly readiness?: boolean | undefined;
  /** False: it must be restarted. */
  readonly liveness?: boolean | undefined;
  /** Of the probe that failed, for the stop. */
  readonly graceSeconds?: number | undefined;
  readonly message?: string | undefined;
}

/** Everything a decision rests on. The plan reads no clock and nothing else. */
export interface PlanInput {
  readonly pod: Pod;
  readonly origin: PodOrigin;
  /** Not older than the last action on this pod. */
  readonly view: PodView | undefined;
  readonly record: PodRecord;
  /** Steps that are under way. The plan emits none of the same key, but for a stop that must be quicker. */
  readonly underWay: readonly Step[];
  readonly nowMs: number;
  /** Whether the runtime's network is ready; pods with the network of the host do not wait for it. */
  readonly isNetworkReady: boolean;
  readonly networkMessage: string;
  readonly volumes: VolumesState;
  /** By container name. */
  readonly images: ReadonlyMap<string, ImageState>;
  /** By container name; of those that have probes, for the container of that id. */
  readonly probes: ReadonlyMap<string, ProbeResults>;
  /** Whether `prepare` has succeeded since the agent started; a sandbox that is ready needs it no more. */
  readonly isPrepared?: boolean;
  /** Why `prepare` or making the sandbox failed last. */
  readonly sandboxFailure?: PodFailure | undefined;
  /** Why releasing what the pod held, or removing what is left in the runtime, failed last. */
  readonly cleanupFailure?: PodFailure | undefined;
  /** Why carrying out a resize failed last. */
  readonly resizeFailure?: PodFailure | undefined;
  /** By `stepKey`: why the last stop of a container or sandbox failed; one that succeeded is not in it. */
  readonly stopFailures?: ReadonlyMap<string, PodFailure>;
  readonly settings: PlanSettings;
}

export interface PlanSettings {
  /** The longest wait between two restarts; default 300 s (crashLoopBackOff.maxContainerRestartPeriod). */
  readonly maxRestartWaitMs: number;
}

/**
 * One thing to do. Steps of different keys may be under way together. A step is done again when nothing shows that it was
 * done, so each must bear being done twice.
 */
export type Step =
  /** Makes folders, the cgroup, devices, claims: what must be there before a sandbox. */
  | { readonly kind: 'prepare' }
  | RunSandboxStep
  /** Ends what still runs in it, and its network. */
  | { readonly kind: 'stopSandbox'; readonly sandboxId: string }
  /** Stops it again before: one that ended by itself may still hold its network. */
  | { readonly kind: 'removeSandbox'; readonly sandboxId: string }
  | StartStep
  | StopStep
  | ResizeStep
  | RemoveContainerStep
  | ReleaseStep;

export interface RunSandboxStep {
  readonly kind: 'runSandbox';
  readonly attempt: number;
  /** Sandboxes that ended by themselves: they are stopped before, since they may still hold their network. */
  readonly stopFirst?: readonly string[];
}

/** Releases volumes, devices, claims and the cgroup. Nothing of the pod runs any more. */
export interface ReleaseStep {
  readonly kind: 'release';
  /** As in RunSandboxStep. */
  readonly stopFirst?: readonly string[];
}

export interface RemoveContainerStep {
  readonly kind: 'removeContainer';
  readonly containerId: string;
  readonly container: string;
  /** All containers are restarted: its end becomes history, in the record, before it is removed. */
  readonly forRestart?: boolean;
}

export interface StartStep {
  readonly kind: 'start';
  readonly container: string;
  readonly type: ContainerType;
  readonly sandboxId: string;
  readonly attempt: number;
  readonly restartCount: number;
  /** The image, by the id that the image room found. */
  readonly imageId: string;
  /** To be written into the record before anything is done. */
  readonly backoff?: ContainerRecord['backoff'];
}

export interface StopStep {
  readonly kind: 'stop';
  readonly container: string;
  readonly containerId: string;
  readonly graceSeconds: number;
  /** When the grace is over. */
  readonly deadlineMs: number;
  /** Another one is to follow, whatever the policy says: to be written into the record (`restartOf`) before the stop. */
  readonly restarts?: boolean;
  /** For the Event `Killing`, such as `Stopping container web`. */
  readonly message: string;
  readonly runsPreStop: boolean;
}

/** Gives running containers what the record says that the pod was given, and its cgroup what these need. */
export interface ResizeStep {
  readonly kind: 'resize';
  readonly containers: readonly {
    readonly container: string;
    readonly containerId: string;
    readonly attempt: number;
  }[];
  /** No other container has to be resized or restarted any more: then the cgroup gets what the pod was given, no less and no more. */
  readonly isLast: boolean;
}

export interface ImageNeed {
  readonly container: string;
  /** Of the container that is to be started with it. */
  readonly attempt: number;
}

/** Why something waits: for people, and for programs. */
export interface Wait {
  /** As in `state.waiting.reason` or the reason of a condition. */
  readonly reason: string;
  readonly message: string;
  /** When it is tried next by itself; undefined: as soon as what it waits for changes. */
  readonly untilMs?: number | undefined;
}

/** `starting` and `running` until it is decided that it ends; `ended`: nothing runs and everything is released. */
export type Stage = 'starting' | 'running' | 'terminating' | 'ended';

export interface Plan {
  readonly stage: Stage;
  readonly steps: readonly Step[];
  /** When to plan again though nothing changed. */
  readonly wakeMs?: number | undefined;
  /** What the pod as a whole waits for: network, volumes, sandbox, termination. */
  readonly wait?: Wait | undefined;
  /**
   * By container name: each that does not run and has not ended for good. Of one that has run before, its last end says more
   * than `ContainerCreating` and `PodInitializing` here.
   */
  readonly waits: ReadonlyMap<string, Wait>;
  /**
   * The images that must be asked for, in the order of need. They do not depend on `images`, so a plan with an empty map says
   * for which attempts the states are to be had.
   */
  readonly imagesWanted: readonly ImageNeed[];
  /** That a restart rule restarts all containers: why. */
  readonly restartsAll?: Wait | undefined;
  /** That the pod must end, found here (its deadline has passed, …): to be put into the record. */
  readonly terminate?: Termination | undefined;
}

/** Equal for steps that must not be under way together. */
export function stepKey(step: Step): string {
  switch (step.kind) {
    case 'prepare':
    case 'runSandbox':
    case 'release':
      return 'pod';
    case 'stopSandbox':
    case 'removeSandbox':
      return `sandbox ${step.sandboxId}`;
    case 'start':
      return 'start';
    case 'resize':
      return 'resize';
    case 'stop':
      return `container ${step.containerId}`;
    case 'removeContainer':
      return `container ${step.containerId}`;
  }
}
