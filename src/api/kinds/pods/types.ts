import type { Infer } from '../../schema/index.ts';
import type {
  affinity,
  nodeAffinity,
  nodeSelectorRequirement,
  podAffinityTerm,
} from '../pod-spec/affinity.ts';
import type {
  container,
  containerPort,
  ephemeralContainer,
  volumeDevice,
  volumeMount,
} from '../pod-spec/container.ts';
import type { objectFieldSelector, resourceFieldSelector } from '../pod-spec/downward.ts';
import type { envFromSource, envVar } from '../pod-spec/env.ts';
import type { httpGetAction, lifecycle, lifecycleHandler, probe } from '../pod-spec/probe.ts';
import type { keyToPath, volumeProjection } from '../pod-spec/projection.ts';
import type { podResourceClaim, resourceRequirements } from '../pod-spec/resources.ts';
import type { toleration, topologySpreadConstraint } from '../pod-spec/scheduling.ts';
import type {
  appArmorProfile,
  podSecurityContext,
  seccompProfile,
  securityContext,
} from '../pod-spec/security-context.ts';
import type { hostAlias, podDNSConfig, podSpec } from '../pod-spec/spec.ts';
import type { volume } from '../pod-spec/volume.ts';
import type { containerState, containerStatus } from './container-status.ts';
import type { podCondition, podStatus } from './status.ts';

/* The TypeScript types of the descriptions in this folder, named as in the reference. */

export interface Affinity extends Infer<typeof affinity> {}
export interface AppArmorProfile extends Infer<typeof appArmorProfile> {}
export interface Container extends Infer<typeof container> {}
export interface ContainerPort extends Infer<typeof containerPort> {}
export interface ContainerState extends Infer<typeof containerState> {}
export interface ContainerStatus extends Infer<typeof containerStatus> {}
export interface EnvFromSource extends Infer<typeof envFromSource> {}
export interface EnvVar extends Infer<typeof envVar> {}
export interface EphemeralContainer extends Infer<typeof ephemeralContainer> {}
export interface HostAlias extends Infer<typeof hostAlias> {}
export interface HTTPGetAction extends Infer<typeof httpGetAction> {}
export interface KeyToPath extends Infer<typeof keyToPath> {}
export interface Lifecycle extends Infer<typeof lifecycle> {}
export interface LifecycleHandler extends Infer<typeof lifecycleHandler> {}
export interface NodeAffinity extends Infer<typeof nodeAffinity> {}
export interface NodeSelectorRequirement extends Infer<typeof nodeSelectorRequirement> {}
export interface ObjectFieldSelector extends Infer<typeof objectFieldSelector> {}
export interface PodAffinityTerm extends Infer<typeof podAffinityTerm> {}
export interface PodCondition extends Infer<typeof podCondition> {}
export interface PodDNSConfig extends Infer<typeof podDNSConfig> {}
export interface PodResourceClaim extends Infer<typeof podResourceClaim> {}
export interface PodSecurityContext extends Infer<typeof podSecurityContext> {}
export interface PodSpec extends Infer<typeof podSpec> {}
export interface PodStatus extends Infer<typeof podStatus> {}
export interface Probe extends Infer<typeof probe> {}
export interface ResourceFieldSelector extends Infer<typeof resourceFieldSelector> {}
export interface ResourceRequirements extends Infer<typeof resourceRequirements> {}
export interface SeccompProfile extends Infer<typeof seccompProfile> {}
export interface SecurityContext extends Infer<typeof securityContext> {}
export interface Toleration extends Infer<typeof toleration> {}
export interface TopologySpreadConstraint extends Infer<typeof topologySpreadConstraint> {}
export interface Volume extends Infer<typeof volume> {}
export interface VolumeDevice extends Infer<typeof volumeDevice> {}
export interface VolumeMount extends Infer<typeof volumeMount> {}
export interface VolumeProjection extends Infer<typeof volumeProjection> {}
