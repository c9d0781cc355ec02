/** A resource as `api-resources` shows it. */
export type Row = readonly [name: string, apiVersion: string, namespaced: boolean, kind: string];

const authorization = 'authorization.k8s.io/v1';
const rbac = 'rbac.authorization.k8s.io/v1';

/** What can be stored and read. */
export const stored: readonly Row[] = [
  ['configmaps', 'v1', true, 'ConfigMap'],
  ['events', 'v1', true, 'Event'],
  ['namespaces', 'v1', false, 'Namespace'],
  ['nodes', 'v1', false, 'Node'],
  ['persistentvolumeclaims', 'v1', true, 'PersistentVolumeClaim'],
  ['persistentvolumes', 'v1', false, 'PersistentVolume'],
  ['pods', 'v1', true, 'Pod'],
  ['secrets', 'v1', true, 'Secret'],
  ['serviceaccounts', 'v1', true, 'ServiceAccount'],
  ['services', 'v1', true, 'Service'],
  ['certificatesigningrequests', 'certificates.k8s.io/v1', false, 'CertificateSigningRequest'],
  ['clustertrustbundles', 'certificates.k8s.io/v1beta1', false, 'ClusterTrustBundle'],
  ['leases', 'coordination.k8s.io/v1', true, 'Lease'],
  ['events', 'events.k8s.io/v1', true, 'Event'],
  ['runtimeclasses', 'node.k8s.io/v1', false, 'RuntimeClass'],
  ['clusterrolebindings', rbac, false, 'ClusterRoleBinding'],
  ['clusterroles', rbac, false, 'ClusterRole'],
  ['rolebindings', rbac, true, 'RoleBinding'],
  ['roles', rbac, true, 'Role'],
  ['csidrivers', 'storage.k8s.io/v1', false, 'CSIDriver'],
  ['csinodes', 'storage.k8s.io/v1', false, 'CSINode'],
  ['storageclasses', 'storage.k8s.io/v1', false, 'StorageClass'],
  ['volumeattachments', 'storage.k8s.io/v1', false, 'VolumeAttachment'],
];

/** What is only asked. */
export const reviews: readonly Row[] = [
  ['accessdiffs', 'access.nodeward.io/v1', false, 'AccessDiff'],
  ['accessexplanations', 'access.nodeward.io/v1', false, 'AccessExplanation'],
  ['accessqueries', 'access.nodeward.io/v1', false, 'AccessQuery'],
  ['selfsubjectreviews', 'authentication.k8s.io/v1', false, 'SelfSubjectReview'],
  ['tokenreviews', 'authentication.k8s.io/v1', false, 'TokenReview'],
  ['localsubjectaccessreviews', authorization, true, 'LocalSubjectAccessReview'],
  ['selfsubjectaccessreviews', authorization, false, 'SelfSubjectAccessReview'],
  ['selfsubjectrulesreviews', authorization, false, 'SelfSubjectRulesReview'],
  ['subjectaccessreviews', authorization, false, 'SubjectAccessReview'],
];

/** What is measured when it is read. */
export const measured: readonly Row[] = [
  ['nodes', 'metrics.k8s.io/v1beta1', false, 'NodeMetrics'],
  ['pods', 'metrics.k8s.io/v1beta1', true, 'PodMetrics'],
];
