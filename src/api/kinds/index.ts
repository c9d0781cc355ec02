export {
  type AccessDiff,
  type AccessDiffSpec,
  type AccessDiffStatus,
  accessDiffKind,
} from './access/access-diff.ts';
export {
  type AccessExplanation,
  type AccessExplanationStatus,
  accessExplanationKind,
} from './access/access-explanation.ts';
export {
  type AccessNamespaceRules,
  type AccessQuery,
  type AccessQueryStatus,
  accessQueryKind,
} from './access/access-query.ts';
export type {
  AccessChange,
  AccessDiffObject,
  AccessGrant,
  AccessHolder,
  AccessNearMiss,
  AccessOpinion,
  AccessReference,
  AccessRemedy,
  AccessRight,
} from './access/parts.ts';
export { addressOf, checkCidr, extentOfCidr, familyOfCidr, numberOf } from './addresses.ts';
export { type SelfSubjectReview, selfSubjectReviewKind } from './authentication/self-subject-review.ts';
export { type TokenRequest, tokenRequest } from './authentication/token-request.ts';
export { type TokenReview, tokenReviewKind } from './authentication/token-review.ts';
export type { UserInfo } from './authentication/user-info.ts';
export type { SubjectAccessReviewSpec, SubjectAccessReviewStatus } from './authorization/access-review.ts';
export {
  type LocalSubjectAccessReview,
  localSubjectAccessReviewKind,
} from './authorization/local-subject-access-review.ts';
export type {
  FieldSelectorAttributes,
  LabelSelectorAttributes,
  ResourceAttributes,
} from './authorization/resource-attributes.ts';
export {
  type SelfSubjectAccessReview,
  selfSubjectAccessReviewKind,
} from './authorization/self-subject-access-review.ts';
export {
  type NonResourceRule,
  type ResourceRule,
  type SelfSubjectRulesReview,
  selfSubjectRulesReviewKind,
} from './authorization/self-subject-rules-review.ts';
export { type SubjectAccessReview, subjectAccessReviewKind } from './authorization/subject-access-review.ts';
export {
  causesOf,
  duplicateValue,
  forbiddenValue,
  invalidUnless,
  invalidValue,
  requiredValue,
  tooLongValue,
  tooManyItems,
  unsupportedValue,
} from './cause.ts';
export type { CertificateSigningRequest } from './certificates/description.ts';
export {
  certificateSigningRequestKind,
  clientSignerName,
  nodeSignerNames,
} from './certificates/signing-request.ts';
export {
  apiServingSigner,
  type ClusterTrustBundle,
  clusterTrustBundleKind,
} from './certificates/trust-bundle.ts';
export { bundlePrefixOf } from './certificates/trust-bundle-causes.ts';
export { ageOf } from './columns.ts';
export { type ComponentStatus, componentStatus } from './core/component-status.ts';
export { type ConfigMap, configMapKind } from './core/config-map.ts';
export { type Namespace, namespaceKind } from './core/namespace.ts';
export { type Secret, secretKind } from './core/secret.ts';
export { type ServiceAccount, serviceAccountKind } from './core/service-account.ts';
export { defineBody, defineKind, objectStruct } from './define.ts';
export { resourceSliceKind } from './devices/resource-slice.ts';
export { eventKind } from './events/core-event.ts';
export type { Event } from './events/event-description.ts';
export { servedKinds } from './gen/served.ts';
export { cronJobKind } from './jobs/cron-job.ts';
export type { CronJob, CronJobSpec, Job, JobSpec, JobStatus } from './jobs/description.ts';
export { jobKind } from './jobs/job.ts';
export {
  type CalendarSchedule,
  checkTimeZone,
  type ParsedSchedule,
  parseSchedule,
  type Schedule,
} from './jobs/schedule.ts';
export {
  type ApiObject,
  apiVersionOf,
  type BodyType,
  type Cause,
  type CauseReason,
  type Column,
  changeableMetadata,
  groupName,
  type Kind,
  type ListOf,
  type ObjectType,
  type PartView,
  type SelectableField,
  type Subresource,
  type Verb,
  type View,
  withoutGated,
} from './kind.ts';
export { type DeleteOptions, deleteOptions, deleteOptionsBody } from './meta/delete-options.ts';
export { type LabelSelector as ObjectSelector, labelCauses, selectsLabels } from './meta/label-selector.ts';
export {
  type ListMeta,
  listMeta,
  type ObjectMeta,
  type OwnerReference,
  objectMeta,
} from './meta/object-meta.ts';
export { type Status, type StatusCause, type StatusDetails, status } from './meta/status.ts';
export {
  measuredKinds,
  type NodeMetrics,
  nodeMetrics,
  type PodMetrics,
  podMetrics,
} from './metrics/usage.ts';
export type { ServiceCIDR } from './networking/description.ts';
export { serviceCIDRKind } from './networking/service-cidr.ts';
export { type CSINode, type CSINodeDriver, csiNodeKind } from './nodes/csi-node.ts';
export { type Lease, type LeaseSpec, leaseKind } from './nodes/lease.ts';
export {
  type Node,
  type NodeAddress,
  type NodeCondition,
  type NodeStatus,
  type NodeSystemInfo,
  nodeKind,
  type Taint,
} from './nodes/node.ts';
export { type RuntimeClass, runtimeClassKind } from './nodes/runtime-class.ts';
export {
  type PlacementExplanation,
  type PlacementExplanationStatus,
  type PlacementNodes,
  type PlacementPreemption,
  type PlacementRefusal,
  type PlacementWait,
  placementExplanationKind,
} from './placement/placement-explanation.ts';
export { resizedSpec } from './pod-validation/validate-resize.ts';
export { type Binding, bindingBody } from './pods/binding.ts';
export { type Eviction, evictionBody } from './pods/eviction.ts';
export { type PodLogOptions, podLogOptions } from './pods/log-options.ts';
export { computeQosClass } from './pods/new-status.ts';
export { type Pod, podChangeCauses, podHasEnded, podKind } from './pods/pod.ts';
export {
  listEnvironmentReferences,
  listPodReferences,
  type PodReference,
  type ReferencedResource,
} from './pods/references.ts';
export { billionths, formatBillionths, formatBinary } from './quantity.ts';
export type { LimitRange, LimitRangeItem, ResourceQuota, ResourceQuotaSpec } from './quotas/description.ts';
export { limitRangeKind } from './quotas/limit-range.ts';
export { resourceQuotaKind } from './quotas/resource-quota.ts';
export { type ClusterRole, clusterRoleKind } from './rbac/cluster-role.ts';
export { type ClusterRoleBinding, clusterRoleBindingKind } from './rbac/cluster-role-binding.ts';
export type { PolicyRule } from './rbac/policy-rule.ts';
export { type Role, roleKind } from './rbac/role.ts';
export { type RoleBinding, roleBindingKind } from './rbac/role-binding.ts';
export type { RoleRef } from './rbac/role-ref.ts';
export type { Subject } from './rbac/subject.ts';
export { type PriorityClass, priorityClassKind, systemPriorityClasses } from './scheduling/priority-class.ts';
export { clusterIpCauses, familyOf } from './services/address-causes.ts';
export type { Service, ServicePort, ServiceSpec } from './services/description.ts';
export { endpointSliceKind } from './services/endpoint-slice.ts';
export { endpointsKind } from './services/endpoints.ts';
export type { EndpointSubset, Endpoints } from './services/endpoints-description.ts';
export { hasClusterIP, hasHealthCheckPort, hasNodePorts, isHeadless } from './services/needs.ts';
export { checkServiceRanges } from './services/ranges.ts';
export { serviceKind } from './services/service.ts';
export type { Endpoint, EndpointSlice } from './services/slice-description.ts';
export { claimSpecCauses, requestedSize } from './storage/claim-causes.ts';
export type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from './storage/claim-description.ts';
export { type CSIDriver, csiDriverKind } from './storage/csi-driver.ts';
export { type CSIStorageCapacity, csiStorageCapacityKind } from './storage/csi-storage-capacity.ts';
export { classInAnnotation } from './storage/display.ts';
export { persistentVolumeKind } from './storage/persistent-volume.ts';
export { persistentVolumeClaimKind } from './storage/persistent-volume-claim.ts';
export { isDefaultClass, type StorageClass, storageClassKind } from './storage/storage-class.ts';
export { type VolumeAttachment, volumeAttachmentKind } from './storage/volume-attachment.ts';
export { type VolumeAttributesClass, volumeAttributesClassKind } from './storage/volume-attributes-class.ts';
export type { PersistentVolume, PersistentVolumeSpec } from './storage/volume-description.ts';
export type {
  ControllerRevision,
  DaemonSet,
  DaemonSetSpec,
  DaemonSetStatus,
  Deployment,
  DeploymentSpec,
  DeploymentStatus,
  ReplicaSet,
  ReplicaSetSpec,
  ReplicaSetStatus,
  StatefulSet,
  StatefulSetSpec,
  StatefulSetStatus,
} from './workloads/apps-description.ts';
export { isSameTemplate } from './workloads/causes.ts';
export { controllerRevisionKind } from './workloads/controller-revision.ts';
export type { PodTemplate, ReplicationController } from './workloads/core-description.ts';
export { daemonSetKind } from './workloads/daemon-set.ts';
export { deploymentKind } from './workloads/deployment.ts';
export { type PodDisruptionBudget, podDisruptionBudgetKind } from './workloads/disruption-budget.ts';
export { podTemplateKind } from './workloads/pod-template.ts';
export { replicaSetKind } from './workloads/replica-set.ts';
export { replicationControllerKind } from './workloads/replication-controller.ts';
export { statefulSetKind } from './workloads/stateful-set.ts';
export type { PodTemplateSpec } from './workloads/template.ts';
