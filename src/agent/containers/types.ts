import type { Pod } from '../../api/index.ts';
import type { ContainerUserOfImage } from '../images/index.ts';
import type { IdRange, NodeCgroups } from '../resources/index.ts';
import type { CriSecurityProfile } from '../seccomp/index.ts';
import type { VolumeMount } from '../volumes/index.ts';

/** Settings of the node that go into every pod. */
export interface NodeSettings {
  readonly nodeName: string;
  readonly hostIps: readonly string[];
  /** clusterDNS and clusterDomain of the configuration. */
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** What the file `resolvConf` says (`parseResolvConf`), or `localDns` without one; for pods that take it. */
  readonly hostDns: DnsSettings;
  /** defaultPodSysctls of the configuration. */
  readonly defaultSysctls: Readonly<Record<string, string>>;
  readonly cpuQuota: { readonly isEnforced: boolean; readonly periodUs: number };
  /** Of the node, for the out-of-memory score and for resourceFieldRef without a limit. */
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
  /** What the cgroups can do (`readNodeCgroups`); undefined: neither swap nor huge pages are limited. */
  readonly cgroups?: NodeCgroups | undefined;
  /** Paths of this machine that containers must not see (`readThermalPaths`), beside those of every machine. */
  readonly maskedPaths?: readonly string[] | undefined;
}

export interface DnsSettings {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

export interface SandboxInput {
  readonly pod: Pod;
  readonly attempt: number;
  /** Absolute. */
  readonly logFolder: string;
  /** As the runtime wants it: `/kubepods/burstable/podUID`, or the name of a slice. */
  readonly cgroupParent: string;
  readonly userIds: IdRange | undefined;
  /** Set over the pod's own: `kubernetes.io/config.source` and `…config.seen`, where the pod's object has none. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly node: NodeSettings;
}

/** A value of the environment, in order. */
export interface EnvironmentValue {
  readonly name: string;
  readonly value: string;
}

/** What a device plugin, or a driver of resource claims, gives to a container. */
export interface ContainerDevices {
  readonly devices: readonly {
    readonly containerPath: string;
    readonly hostPath: string;
    readonly permissions: string;
  }[];
  readonly mounts: readonly {
    readonly containerPath: string;
    readonly hostPath: string;
    readonly isReadOnly: boolean;
  }[];
  readonly environment: readonly EnvironmentValue[];
  readonly annotations: Readonly<Record<string, string>>;
  readonly cdiDevices: readonly string[];
}

export interface ContainerInput {
  readonly pod: Pod;
  readonly container: string;
  readonly attempt: number;
  readonly restartCount: number;
  readonly image: { readonly id: string; readonly user: ContainerUserOfImage };
  readonly environment: readonly EnvironmentValue[];
  readonly mounts: readonly VolumeMount[];
  /** The pod's own hosts file, if it has one. */
  readonly hostsFile: string | undefined;
  /** The file behind terminationMessagePath. */
  readonly messageFile: string | undefined;
  readonly devices: ContainerDevices;
  readonly seccomp: CriSecurityProfile;
  readonly appArmor: CriSecurityProfile | undefined;
  /** Groups that the volumes ask for. */
  readonly volumeGroups: readonly number[];
  readonly userIds: IdRange | undefined;
  /** For an ephemeral container: the id of the container whose processes it sees. */
  readonly targetId: string | undefined;
  readonly node: NodeSettings;
}

/** Why a container cannot be made, as in its status. */
export class ContainerConfigError extends Error {
  override readonly name = 'ContainerConfigError';
  /** `CreateContainerConfigError`, or `CreateContainerError`. */
  readonly reason: string;

  constructor(message: string, reason = 'CreateContainerConfigError') {
    super(message);
    this.reason = reason;
  }
}
