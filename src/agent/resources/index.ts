/** What pods ask for and may use: sums, classes, the limits of containers, and the cgroups of pods. */
export { type CgroupDriver, type CgroupNaming, kubepodsPath, parentFor, podPath } from './cgroup-names.ts';
export { type CgroupTree, openCgroupTree } from './cgroup-tree.ts';
export { cpuMillis, divideUp, quotaOf, sharesOf, weightOf, wholeOf } from './cpu-share.ts';
export {
  containerResources,
  type LinuxLimits,
  type NodeCgroups,
  overheadResources,
  type ResourceSettings,
  sandboxResources,
} from './linux-resources.ts';
export { readNodeCgroups } from './node-cgroups.ts';
export { oomScoreOf } from './oom-score.ts';
export {
  type AllPodsLimits,
  type MemoryShortage,
  PodCgroups,
  type PodCgroupsOptions,
} from './pod-cgroups.ts';
export { type GroupLimits, groupLimitsOf, type PodLimitSettings } from './pod-limits.ts';
export {
  findReservedGroup,
  limitReservedGroup,
  type ReservedGroup,
  type ReservedTarget,
} from './reserved-groups.ts';
export { type HostIds, type HostIdsOptions, readHostIds } from './sub-ids.ts';
export {
  type CommandOutcome,
  type RunSystemctl,
  type SliceManager,
  systemdSlices,
} from './systemd-slices.ts';
export { type IdRange, UserNamespaces, type UserNamespacesOptions } from './user-namespaces.ts';
