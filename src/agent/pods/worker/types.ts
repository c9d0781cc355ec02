import type { Pod } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import type { ContainerDevices, NodeSettings } from '../../containers/index.ts';
import type { ContainerUserOfImage, Images } from '../../images/index.ts';
import type { Happening } from '../../node/events/index.ts';
import type { KnownServices, PodObjects } from '../../objects/index.ts';
import type { PodProbes } from '../../probes/index.ts';
import type { IdRange, PodCgroups } from '../../resources/index.ts';
import type { PodCalls } from '../../runtime/index.ts';
import type { CriSecurityProfile } from '../../seccomp/index.ts';
import type { Volumes } from '../../volumes/index.ts';
import type {
  Plan,
  PlanInput,
  PlanSettings,
  PodRecord,
  RemoveContainerStep,
  ResizeStep,
  StartStep,
  StopStep,
} from '../plan/index.ts';
import type { ContainerView, PodView, RuntimeView } from '../view/types.ts';
import type { LookKind } from './life-metrics.ts';
import type { PodRecords } from './records.ts';

/** What became of the start of a container. */
export type StartOutcome =
  | { readonly isStarted: true; readonly containerId: string }
  /** As `state.waiting` says it. */
  | {
      readonly isStarted: false;
      readonly reason: string;
      readonly message: string;
      /** False: the runtime was not even asked for it. */
      readonly isAsked?: boolean;
      /** The runtime has not answered, and may still make it. */
      readonly isUnanswered?: boolean;
    };

/** A container to start. */
export interface StartWork {
  readonly pod: Pod;
  readonly step: StartStep;
  readonly image: { readonly id: string; readonly user: ContainerUserOfImage };
  /** The ids of the images that it mounts, by the names of the volumes. */
  readonly volumeImages?: ReadonlyMap<string, string>;
  readonly view: PodView | undefined;
  /** Whether the pod ends by now: what was made meanwhile is not started. */
  isEnding(): boolean;
}

/**
 * Does what a plan asks for. Each rejects with an Error for people when it failed, and may be called again then; `signal` ends
 * what may be ended.
 */
export interface Executor {
  /** Makes the folders and the cgroup of the pod. */
  prepare(pod: Pod, signal: AbortSignal): Promise<void>;
  /** Resolves to the id of the sandbox. */
  runSandbox(pod: Pod, attempt: number, signal: AbortSignal): Promise<string>;
  /** Never given up half way: the plugins of the network would be killed. */
  stopSandbox(pod: Pod, sandboxId: string): Promise<void>;
  removeSandbox(sandboxId: string): Promise<void>;
  /** Never rejects for what is the pod's own fault: that is an outcome. */
  start(work: StartWork, signal: AbortSignal): Promise<StartOutcome>;
  stop(pod: Pod, step: StopStep, view: PodView | undefined, signal: AbortSignal): Promise<void>;
  /** Gives containers that run, and the cgroup of the pod, what the pod was given. */
  resize(pod: Pod, step: ResizeStep): Promise<void>;
  /** With the logs of what is older than all that is left of it. */
  removeContainer(
    pod: Pod,
    step: RemoveContainerStep,
    view: PodView | undefined,
    signal: AbortSignal,
  ): Promise<void>;
  /** Releases everything outside the runtime but the logs. */
  release(pod: Pod): Promise<void>;
  /** Removes the last of it, logs too: its object is gone. */
  forget(pod: Pod): Promise<void>;
  /** By container: the highest attempt of which there is a log. */
  loggedAttempts(pod: Pod): Promise<ReadonlyMap<string, number>>;
  /** What an exited container left as its message; empty where it left none. Never rejects. */
  messageOf(pod: Pod, container: ContainerView): Promise<string>;
}

/** The ResourceClaims of a pod could not be prepared. */
export class ClaimsError extends Error {
  override readonly name = 'ClaimsError';
}

/** What is logged of a pod, and kept to be asked for. */
export interface PodTeller {
  /** What is decided and what is there, after each look. */
  planned(pod: Pod, input: PlanInput, plan: Plan, messages: ReadonlyMap<string, string>): void;
  /** What is done for the pod, in a few words: `start container web`. */
  did(pod: Pod, what: string): void;
  /** An Event about the pod, or one container of it. */
  event(pod: Pod, happening: Happening, container?: string): void;
  /** Nothing of the pod is left on this node. */
  ended(pod: Pod, cause: NonNullable<PodRecord['termination']>['cause']): void;
}

/** The security profiles of a container, or why it cannot be made. */
export type SecurityProfiles =
  | { readonly seccomp: CriSecurityProfile; readonly appArmor: CriSecurityProfile | undefined }
  | { readonly reason: string; readonly message: string };

export interface ExecutorOptions {
  readonly calls: PodCalls;
  readonly volumes: Volumes;
  readonly objects: Pick<PodObjects, 'configMap' | 'secret' | 'onChange'>;
  readonly services: KnownServices;
  /** Resolves once it is known how the runtime makes cgroups. */
  cgroups(): Promise<PodCgroups>;
  /** The same, undefined before: then no group was made by this run. */
  removeCgroup(podUid: string): Promise<void>;
  readonly teller: PodTeller;
  /** Absolute: that of the agent. */
  readonly rootDir: string;
  /** Written on sandboxes, to name this agent. */
  readonly agentMark: string;
  /** Absolute: the folder of the pods' logs. */
  readonly logsDir: string;
  node(): NodeSettings;
  /** The runtime's handler for the pod's runtime class; rejects with an Error for people. */
  handlerOf(pod: Pod): Promise<string>;
  /** The ids of a pod with a user namespace of its own, whose folder exists; rejects with an Error for people. */
  userIdsOf(pod: Pod): Promise<IdRange | undefined>;
  /** Nothing of the pod runs any more. */
  releaseUserIds(podUid: string): Promise<void>;
  security(pod: Pod, container: string): Promise<SecurityProfiles>;
  /** Rejects with an Error for people. */
  devicesOf(pod: Pod, container: string, signal: AbortSignal): Promise<ContainerDevices>;
  /** Has the devices of the pod's ResourceClaims prepared; rejects with an Error for people. */
  prepareClaims(pod: Pod, signal: AbortSignal): Promise<void>;
  /** Nothing of the pod runs any more; rejects while a driver does not let go. */
  releaseClaims(podUid: string): Promise<void>;
  beforeStart(podUid: string, container: string): Promise<void>;
  releaseDevices(podUid: string): Promise<void>;
  /** Waits for a slot to start: a bounded number of pods start at a time. */
  enter(pod: Pod, next: 'sandbox' | 'container', signal: AbortSignal): Promise<Disposable>;
  /** Waits a bounded time for a checkpoint of the container; none begins until the result is disposed of. */
  beforeStop(
    stop: {
      readonly containerId: string;
      readonly graceSeconds: number;
      onWait?(maxSeconds: number): void;
    },
    signal: AbortSignal,
  ): Promise<Disposable>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What all workers share. */
export interface WorkerParts {
  readonly view: RuntimeView;
  readonly images: Images;
  readonly volumes: Volumes;
  readonly records: PodRecords;
  readonly executor: Executor;
  readonly probes: PodProbes;
  readonly teller: PodTeller;
  readonly settings: () => PlanSettings;
  /** Called when a pod holds nothing of the node any more. */
  readonly onReleased?: () => void;
  /** How long a look and its plan took. */
  readonly onLooked?: (kind: LookKind, seconds: number) => void;
  readonly network: () => { readonly isReady: boolean; readonly message: string };
  /** The node's own addresses, which pods in its network have. */
  readonly hostIps: () => readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}
