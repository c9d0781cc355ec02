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
export { type ConfigMap, configMapKind } from './core/config-map.ts';
export { type Namespace, namespaceKind } from './core/namespace.ts';
export { type Secret, secretKind } from './core/secret.ts';
export { type ServiceAccount, serviceAccountKind } from './core/service-account.ts';
export { defineBody, defineKind, objectStruct } from './define.ts';
export { eventKind } from './events/core-event.ts';
export type { Event } from './events/event-description.ts';
export { servedKinds } from './gen/served.ts';
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
export { type ClusterRole, clusterRoleKind } from './rbac/cluster-role.ts';
export { type ClusterRoleBinding, clusterRoleBindingKind } from './rbac/cluster-role-binding.ts';
export type { PolicyRule } from './rbac/policy-rule.ts';
export { type Role, roleKind } from './rbac/role.ts';
export { type RoleBinding, roleBindingKind } from './rbac/role-binding.ts';
export type { RoleRef } from './rbac/role-ref.ts';
export type { Subject } from './rbac/subject.ts';
export { clusterIpCauses, familyOf } from './services/address-causes.ts';
export type { Service, ServicePort, ServiceSpec } from './services/description.ts';
export { hasClusterIP, hasHealthCheckPort, hasNodePorts, isHeadless } from './services/needs.ts';
export { checkServiceRanges } from './services/ranges.ts';
export { serviceKind } from './services/service.ts';
export { claimSpecCauses, requestedSize } from './storage/claim-causes.ts';
export type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from './storage/claim-description.ts';
export { type CSIDriver, csiDriverKind } from './storage/csi-driver.ts';
export { classInAnnotation } from './storage/display.ts';
export { persistentVolumeKind } from './storage/persistent-volume.ts';
export { persistentVolumeClaimKind } from './storage/persistent-volume-claim.ts';
export { isDefaultClass, type StorageClass, storageClassKind } from './storage/storage-class.ts';
export { type VolumeAttachment, volumeAttachmentKind } from './storage/volume-attachment.ts';
export type { PersistentVolume, PersistentVolumeSpec } from './storage/volume-description.ts';
