import type { Pod, Taint } from '../../../api/index.ts';
import type { HostAppArmor } from '../../seccomp/index.ts';
import type { PodOrigin } from '../plan/index.ts';

/** Everything that decides whether a pod may run on this node. */
export interface AdmissionInput {
  /** With the resources that it was given, if it was given any before. */
  readonly pod: Pod;
  readonly origin: PodOrigin;
  /** The pods that count on the node beside it: admitted and not ended, each with the resources that it was given. */
  readonly others: readonly Neighbour[];
  /** Undefined: it is not known, though there is a control plane that would know it. */
  readonly node: AdmittingNode | undefined;
  readonly features: NodeFeatures;
  readonly settings: AdmissionSettings;
}

export interface Neighbour {
  readonly pod: Pod;
  readonly origin: PodOrigin;
}

export interface AdmittingNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** Quantities by resource. */
  readonly allocatable: Readonly<Record<string, string>>;
  /** The pressures that the node is under now. */
  readonly pressures: readonly Pressure[];
  readonly isShuttingDown: boolean;
}

export type Pressure = 'MemoryPressure' | 'DiskPressure' | 'PIDPressure';

/** What the runtime and the kernel can do. */
export interface NodeFeatures {
  /** Undefined: the runtime does not say, which counts as no. */
  readonly supplementalGroupsPolicy: boolean | undefined;
  /** The ways in which the runtime can run containers; undefined: it does not say, and everything is tried. */
  readonly runtimeHandlers:
    | readonly { readonly name: string; readonly userNamespaces: boolean }[]
    | undefined;
  readonly appArmor: HostAppArmor;
}

export interface AdmissionSettings {
  /** allowedUnsafeSysctls of the configuration. */
  readonly unsafeSysctls: readonly string[];
  /** The handler of a RuntimeClass by its name; undefined: there is no such class. Without it, classes are not looked at. */
  readonly handlerOf?: ((runtimeClass: string) => string | undefined) | undefined;
}

/** Why a pod may not run here: the reason of its status and of an Event, and the message of the Event. */
export interface Refusal {
  readonly reason: string;
  readonly message: string;
}

export type Admission = { readonly admitted: true } | RefusedAdmission;

export interface RefusedAdmission extends Refusal {
  readonly admitted: false;
  /** `status.message` of the pod, whose phase is Failed. */
  readonly statusMessage: string;
  /** The Node may have been changed meanwhile: read it again, and ask once more before the pod is refused. */
  readonly retryWithFreshNode?: true;
  /**
   * For a critical pod: when these have ended, there is room for it. It is not refused; they are ended as preempted, and it
   * is asked for again without them.
   */
  readonly preempt?: readonly Pod[];
}

/** What the status, an Event and the condition DisruptionTarget of a preempted pod say. */
export const preemption: Refusal & { readonly disruption: string } = {
  reason: 'Preempting',
  message: 'Preempted in order to admit critical pod',
  disruption: 'Pod was preempted by Kubelet to accommodate a critical pod.',
};

/** The same of a pod that ends because the machine shuts down. */
export const nodeShutdown: typeof preemption = {
  reason: 'Terminated',
  message: 'Pod was terminated in response to imminent node shutdown.',
  disruption: 'Pod was terminated in response to imminent node shutdown.',
};

/** What a pod is refused with meanwhile. */
export const nodeShutdownRefusal: Refusal = {
  reason: 'NodeShutdown',
  message: 'Pod was rejected as the node is shutting down.',
};
