import type { Pod } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import type { ContainerDevices, IdRange, NodeSettings } from '../../containers/index.ts';
import type { ContainerUserOfImage, Images } from '../../images/index.ts';
import type { PodCgroups } from '../../resources/index.ts';
import type { PodCalls } from '../../runtime/index.ts';
import type { CriSecurityProfile } from '../../seccomp/index.ts';
import type { Volumes } from '../../volumes/index.ts';
import type { Plan, PlanInput, PlanSettings, PodRecord, StartStep, StopStep } from '../plan/index.ts';
import type { ContainerView, PodView, RuntimeView } from '../view/types.ts';
import type { PodRecords } from './records.ts';

/** What became of the start of a container. */
export type StartOutcome =
  | { readonly isStarted: true }
  /** As `state.waiting` says it. */
  | { readonly isStarted: false; readonly reason: string; readonly message: string };

/** A container to start. */
export interface StartWork {
  readonly pod: Pod;
  readonly step: StartStep;
  readonly image: { readonly id: string; readonly user: ContainerUserOfImage };
  readonly view: PodView | undefined;
}

/**
 * Does what a plan asks for. Each rejects with an Error for people when it failed, and may be called again then; `signal` ends
 * what may be ended.
 */
export interface Executor {
  /** Makes the folders and the cgroup of the pod. */
  prepare(pod: Pod, signal: AbortSignal): Promise<void>;
  runSandbox(pod: Pod, attempt: number, signal: AbortSignal): Promise<void>;
  stopSandbox(pod: Pod, sandboxId: string, signal: AbortSignal): Promise<void>;
  removeSandbox(sandboxId: string, signal: AbortSignal): Promise<void>;
  /** Never rejects for what is the pod's own fault: that is an outcome. */
  start(work: StartWork, signal: AbortSignal): Promise<StartOutcome>;
  stop(pod: Pod, step: StopStep, view: PodView | undefined, signal: AbortSignal): Promise<void>;
  removeContainer(containerId: string, signal: AbortSignal): Promise<void>;
  /** Releases everything outside the runtime but the logs. */
  release(pod: Pod): Promise<void>;
  /** Removes the last of it, logs too: its object is gone. */
  forget(pod: Pod): Promise<void>;
  /** What an exited container left as its message; empty where it left none. Never rejects. */
  messageOf(pod: Pod, container: ContainerView): Promise<string>;
}

/** What is logged of a pod, and kept to be asked for. */
export interface PodTeller {
  /** What is decided and what is there, after each look. */
  planned(pod: Pod, input: PlanInput, plan: Plan, messages: ReadonlyMap<string, string>): void;
  /** What is done for the pod, in a few words: `start container web`. */
  did(pod: Pod, what: string): void;
  /** An Event about the pod, or one container of it. */
  event(
    pod: Pod,
    happening: { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string },
    container?: string,
  ): void;
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
  /** Resolves once it is known how the runtime makes cgroups. */
  cgroups(): Promise<PodCgroups>;
  /** The same, undefined before: then no group was made by this run. */
  madeCgroups(): PodCgroups | undefined;
  readonly teller: PodTeller;
  /** Absolute: that of the agent. */
  readonly rootDir: string;
  /** Absolute: the folder of the pods' logs. */
  readonly logsDir: string;
  node(): NodeSettings;
  /** The runtime's handler for the pod's runtime class; rejects with an Error for people. */
  handlerOf(pod: Pod): Promise<string>;
  userIdsOf(pod: Pod): IdRange | undefined;
  security(pod: Pod, container: string): Promise<SecurityProfiles>;
  /** Rejects with an Error for people. */
  devicesOf(pod: Pod, container: string): Promise<ContainerDevices>;
  beforeStart(podUid: string, container: string): Promise<void>;
  releaseDevices(podUid: string): Promise<void>;
  /** Waits for a slot to start: a bounded number of pods start at a time. */
  enter(pod: Pod, signal: AbortSignal): Promise<Disposable>;
  /** How long a stop may wait for a checkpoint of the container; resolves when none is under way. */
  afterCheckpoint(containerId: string, signal: AbortSignal): Promise<void>;
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
  readonly teller: PodTeller;
  readonly settings: () => PlanSettings;
  /** Called when a pod holds nothing of the node any more. */
  readonly onReleased?: () => void;
  readonly network: () => { readonly isReady: boolean; readonly message: string };
  readonly clock: Clock;
  readonly log: Logger;
}
