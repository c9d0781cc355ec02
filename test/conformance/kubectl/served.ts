/** A resource as `api-resources` shows it. */
export type Row = readonly [name: string, apiVersion: string, namespaced: boolean, kind: string];

const admission = 'admissionregistration.k8s.io/v1';
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

/** What is stored for other programs; `suites/others.ts` has an object of each. */
export const storedForOthers: readonly Row[] = [
  ['endpoints', 'v1', true, 'Endpoints'],
  ['limitranges', 'v1', true, 'LimitRange'],
  ['podtemplates', 'v1', true, 'PodTemplate'],
  ['replicationcontrollers', 'v1', true, 'ReplicationController'],
  ['resourcequotas', 'v1', true, 'ResourceQuota'],
  ['controllerrevisions', 'apps/v1', true, 'ControllerRevision'],
  ['daemonsets', 'apps/v1', true, 'DaemonSet'],
  ['deployments', 'apps/v1', true, 'Deployment'],
  ['replicasets', 'apps/v1', true, 'ReplicaSet'],
  ['statefulsets', 'apps/v1', true, 'StatefulSet'],
  ['mutatingadmissionpolicies', admission, false, 'MutatingAdmissionPolicy'],
  ['mutatingadmissionpolicybindings', admission, false, 'MutatingAdmissionPolicyBinding'],
  ['mutatingwebhookconfigurations', admission, false, 'MutatingWebhookConfiguration'],
  ['validatingadmissionpolicies', admission, false, 'ValidatingAdmissionPolicy'],
  ['validatingadmissionpolicybindings', admission, false, 'ValidatingAdmissionPolicyBinding'],
  ['validatingwebhookconfigurations', admission, false, 'ValidatingWebhookConfiguration'],
  ['apiservices', 'apiregistration.k8s.io/v1', false, 'APIService'],
  ['flowschemas', 'flowcontrol.apiserver.k8s.io/v1', false, 'FlowSchema'],
  ['prioritylevelconfigurations', 'flowcontrol.apiserver.k8s.io/v1', false, 'PriorityLevelConfiguration'],
  ['horizontalpodautoscalers', 'autoscaling/v2', true, 'HorizontalPodAutoscaler'],
  ['cronjobs', 'batch/v1', true, 'CronJob'],
  ['jobs', 'batch/v1', true, 'Job'],
  ['endpointslices', 'discovery.k8s.io/v1', true, 'EndpointSlice'],
  ['ingressclasses', 'networking.k8s.io/v1', false, 'IngressClass'],
  ['ingresses', 'networking.k8s.io/v1', true, 'Ingress'],
  ['ipaddresses', 'networking.k8s.io/v1', false, 'IPAddress'],
  ['networkpolicies', 'networking.k8s.io/v1', true, 'NetworkPolicy'],
  ['servicecidrs', 'networking.k8s.io/v1', false, 'ServiceCIDR'],
  ['poddisruptionbudgets', 'policy/v1', true, 'PodDisruptionBudget'],
  ['deviceclasses', 'resource.k8s.io/v1', false, 'DeviceClass'],
  ['resourceclaims', 'resource.k8s.io/v1', true, 'ResourceClaim'],
  ['resourceclaimtemplates', 'resource.k8s.io/v1', true, 'ResourceClaimTemplate'],
  ['resourceslices', 'resource.k8s.io/v1', false, 'ResourceSlice'],
  ['priorityclasses', 'scheduling.k8s.io/v1', false, 'PriorityClass'],
  ['csistoragecapacities', 'storage.k8s.io/v1', true, 'CSIStorageCapacity'],
  ['volumeattributesclasses', 'storage.k8s.io/v1', false, 'VolumeAttributesClass'],
];

/** What is only asked. */
export const reviews: readonly Row[] = [
  ['accessdiffs', 'access.nodeward.io/v1', false, 'AccessDiff'],
  ['accessexplanations', 'access.nodeward.io/v1', false, 'AccessExplanation'],
  ['accessqueries', 'access.nodeward.io/v1', false, 'AccessQuery'],
  ['placementexplanations', 'scheduling.nodeward.io/v1', true, 'PlacementExplanation'],
  ['selfsubjectreviews', 'authentication.k8s.io/v1', false, 'SelfSubjectReview'],
  ['tokenreviews', 'authentication.k8s.io/v1', false, 'TokenReview'],
  ['localsubjectaccessreviews', authorization, true, 'LocalSubjectAccessReview'],
  ['selfsubjectaccessreviews', authorization, false, 'SelfSubjectAccessReview'],
  ['selfsubjectrulesreviews', authorization, false, 'SelfSubjectRulesReview'],
  ['subjectaccessreviews', authorization, false, 'SubjectAccessReview'],
];

/** What is measured when it is read. */
export const measured: readonly Row[] = [
  ['componentstatuses', 'v1', false, 'ComponentStatus'],
  ['nodes', 'metrics.k8s.io/v1beta1', false, 'NodeMetrics'],
  ['pods', 'metrics.k8s.io/v1beta1', true, 'PodMetrics'],
];
