import type { PolicyRule } from '../../../api/index.ts';
import type { Groups } from './groups.ts';
import type { DefaultBinding, DefaultRole } from './policy.ts';
import { read, rule } from './policy.ts';

/*
 * For the controllers of the reference's controller manager, which work as service accounts of their own in kube-system when it is
 * started with --use-service-account-credentials. A role and an account have the name of the controller.
 */

const prefix = 'system:controller:';

export function controllerRoles(groups: Groups): DefaultRole[] {
  return Object.entries(rulesByController(groups)).map(([name, rules]) => ({ name: prefix + name, rules }));
}

export function controllerBindings(groups: Groups): DefaultBinding[] {
  return Object.keys(rulesByController(groups)).map((name) => ({
    name: prefix + name,
    groups: [],
    accounts: [name],
  }));
}

const change = `${read} update`;
const keep = `create delete ${read} patch update`;
/** What makes pods of a workload may do with them. */
const makePods = 'create delete list patch watch';
const look = 'list watch';

function rulesByController(groups: Groups): Readonly<Record<string, PolicyRule[]>> {
  const events = { ...rule('create patch update', '', 'events'), apiGroups: ['', groups.events] };
  return {
    ...workloadRules(groups, events),
    ...serviceRules(groups, events),
    ...storageRules(groups, events),
    ...nodeRules(groups, events),
    ...clusterRules(groups, events),
  };
}

type Rules = Readonly<Record<string, PolicyRule[]>>;

/** Rules about a kind of workload: its objects, its status, and that it may own what blocks its deletion. */
function ofWorkload(verbs: string, group: string, resource: string): PolicyRule[] {
  return [
    rule(verbs, group, resource),
    rule('update', group, `${resource}/status`),
    rule('update', group, `${resource}/finalizers`),
  ];
}

function workloadRules({ resource, metrics }: Groups, events: PolicyRule): Rules {
  return {
    'cronjob-controller': [
      ...ofWorkload(change, 'batch', 'cronjobs'),
      rule(keep, 'batch', 'jobs'),
      rule('delete list watch', '', 'pods'),
      events,
    ],
    'daemon-set-controller': [
      ...ofWorkload(read, 'apps', 'daemonsets'),
      rule(look, '', 'nodes'),
      rule(makePods, '', 'pods'),
      rule('create', '', 'pods/binding'),
      rule(keep, 'apps', 'controllerrevisions'),
      events,
    ],
    'deployment-controller': [
      ...ofWorkload(change, 'apps', 'deployments'),
      rule(keep, 'apps', 'replicasets'),
      rule(change, '', 'pods'),
      events,
    ],
    'disruption-controller': [
      rule(read, 'apps', 'deployments replicasets statefulsets'),
      rule(read, '', 'replicationcontrollers'),
      rule(read, 'policy', 'poddisruptionbudgets'),
      rule('update', 'policy', 'poddisruptionbudgets/status'),
      rule('patch update', '', 'pods/status'),
      rule('get', '*', '*/scale'),
      events,
    ],
    'horizontal-pod-autoscaler': [
      rule(read, 'autoscaling', 'horizontalpodautoscalers'),
      rule('update', 'autoscaling', 'horizontalpodautoscalers/status'),
      rule('get update', '*', '*/scale'),
      rule(look, '', 'pods'),
      rule(look, metrics, 'pods'),
      rule(read, `custom.${metrics}`, '*'),
      rule(read, `external.${metrics}`, '*'),
      events,
    ],
    'job-controller': [
      ...ofWorkload(`${read} patch update`, 'batch', 'jobs'),
      rule(makePods, '', 'pods'),
      events,
    ],
    'replicaset-controller': [
      ...ofWorkload(change, 'apps', 'replicasets'),
      rule(makePods, '', 'pods'),
      events,
    ],
    'replication-controller': [
      ...ofWorkload(change, '', 'replicationcontrollers'),
      rule(makePods, '', 'pods'),
      events,
    ],
    'resource-claim-controller': [
      rule(read, '', 'pods'),
      rule('update', '', 'pods/finalizers'),
      rule(`create delete ${read}`, resource, 'resourceclaims'),
      rule('patch update', resource, 'resourceclaims resourceclaims/status resourceclaims/binding'),
      rule('patch update', '', 'pods/status'),
      events,
    ],
    'statefulset-controller': [
      ...ofWorkload(read, 'apps', 'statefulsets'),
      rule(keep, '', 'pods'),
      rule('update', '', 'pods/finalizers'),
      rule(keep, 'apps', 'controllerrevisions'),
      rule(`create delete ${read} update`, '', 'persistentvolumeclaims'),
      events,
    ],
    'ttl-after-finished-controller': [rule(`delete ${read}`, 'batch', 'jobs'), events],
  };
}

function serviceRules({ discovery, networking }: Groups, events: PolicyRule): Rules {
  const keepSlices = rule(`create delete ${read} update`, discovery, 'endpointslices');
  return {
    'endpoint-controller': [
      rule(read, '', 'pods services'),
      rule(`create delete ${read} update`, '', 'endpoints'),
      rule('create', '', 'endpoints/restricted'),
      events,
    ],
    'endpointslice-controller': [
      rule(read, '', 'nodes pods services'),
      rule('update', '', 'services/finalizers'),
      keepSlices,
      events,
    ],
    'endpointslicemirroring-controller': [
      rule(read, '', 'endpoints services'),
      rule('update', '', 'endpoints/finalizers services/finalizers'),
      keepSlices,
      events,
    ],
    'service-cidrs-controller': [
      rule(`${read} patch update`, networking, 'servicecidrs'),
      rule('patch update', networking, 'servicecidrs/finalizers servicecidrs/status'),
      rule(read, networking, 'ipaddresses'),
      events,
    ],
    'service-controller': [
      rule(read, '', 'services'),
      rule('patch update', '', 'services/status'),
      rule(look, '', 'nodes'),
      events,
    ],
  };
}

function storageRules({ storage }: Groups, events: PolicyRule): Rules {
  return {
    'attachdetach-controller': [
      rule(look, '', 'persistentvolumeclaims persistentvolumes pods'),
      rule(read, '', 'nodes'),
      rule('patch update', '', 'nodes/status'),
      rule(`create delete ${read}`, storage, 'volumeattachments'),
      rule(read, storage, 'csidrivers csinodes'),
      events,
    ],
    'ephemeral-volume-controller': [
      rule(read, '', 'pods'),
      rule('update', '', 'pods/finalizers'),
      rule(`create ${read}`, '', 'persistentvolumeclaims'),
      events,
    ],
    'expand-controller': [
      rule(`${read} patch update`, '', 'persistentvolumes'),
      rule(read, '', 'persistentvolumeclaims'),
      rule('patch update', '', 'persistentvolumeclaims/status'),
      events,
    ],
    'persistent-volume-binder': [
      rule(`create delete ${read} update`, '', 'persistentvolumes'),
      rule(change, '', 'persistentvolumeclaims'),
      rule('update', '', 'persistentvolumeclaims/status persistentvolumes/status'),
      rule(`create delete ${read}`, '', 'pods'),
      rule(read, storage, 'storageclasses'),
      rule(look, '', 'nodes'),
      events,
      rule('watch', '', 'events'),
    ],
    'pv-protection-controller': [rule(change, '', 'persistentvolumes'), events],
    'pvc-protection-controller': [
      rule(change, '', 'persistentvolumeclaims'),
      rule('update', '', 'persistentvolumeclaims/status'),
      rule(read, '', 'pods'),
      events,
    ],
    'selinux-warning-controller': [
      rule(read, '', 'persistentvolumeclaims persistentvolumes pods'),
      rule(read, storage, 'csidrivers'),
      events,
    ],
    'volumeattributesclass-protection-controller': [
      rule(read, '', 'persistentvolumeclaims persistentvolumes'),
      rule(change, storage, 'volumeattributesclasses'),
      events,
    ],
  };
}

function nodeRules({ resource }: Groups, events: PolicyRule): Rules {
  return {
    'device-taint-eviction-controller': [
      rule(`delete ${read}`, '', 'pods'),
      rule('patch update', '', 'pods/status'),
      rule(read, resource, 'deviceclasses resourceclaims resourceslices'),
      events,
    ],
    'node-controller': [
      rule(`delete ${read} patch update`, '', 'nodes'),
      rule('patch update', '', 'nodes/status pods/status'),
      rule(`delete ${read}`, '', 'pods'),
      events,
    ],
    'pod-garbage-collector': [
      rule('delete list watch', '', 'pods'),
      rule(read, '', 'nodes'),
      rule('patch', '', 'pods/status'),
    ],
    'route-controller': [rule(look, '', 'nodes'), rule('patch', '', 'nodes/status'), events],
    'ttl-controller': [rule('list patch update watch', '', 'nodes'), events],
  };
}

const signers = [
  'kube-apiserver-client',
  'kube-apiserver-client-kubelet',
  'kubelet-serving',
  'legacy-unknown',
];

function clusterRules(groups: Groups, events: PolicyRule): Rules {
  const { admission, authorization, certificates, rbac } = groups;
  const named = (given: PolicyRule, ...resourceNames: string[]) => ({ ...given, resourceNames });
  const policies = 'validatingadmissionpolicies';
  return {
    'certificate-controller': [
      rule(`delete ${read}`, certificates, 'certificatesigningrequests'),
      rule('update', certificates, 'certificatesigningrequests/approval certificatesigningrequests/status'),
      named(rule('approve', certificates, 'signers'), 'kubernetes.io/kube-apiserver-client-kubelet'),
      named(rule('sign', certificates, 'signers'), ...signers.map((name) => `kubernetes.io/${name}`)),
      rule('create', authorization, 'subjectaccessreviews'),
      events,
    ],
    'clusterrole-aggregation-controller': [rule(`escalate ${read} patch update`, rbac, 'clusterroles')],
    'generic-garbage-collector': [rule(`delete ${read} patch update`, '*', '*'), events],
    'legacy-service-account-token-cleaner': [
      named(rule('get', '', 'configmaps'), 'kube-apiserver-legacy-service-account-token-tracking'),
      rule('delete patch', '', 'secrets'),
    ],
    'namespace-controller': [
      rule(`delete ${read}`, '', 'namespaces'),
      rule('update', '', 'namespaces/finalize namespaces/status'),
      rule(`delete deletecollection ${read}`, '*', '*'),
    ],
    'resourcequota-controller': [rule(look, '*', '*'), rule('update', '', 'resourcequotas/status'), events],
    'root-ca-cert-publisher': [rule('create update', '', 'configmaps'), events],
    'service-account-controller': [rule('create', '', 'serviceaccounts'), events],
    'validatingadmissionpolicy-status-controller': [
      rule(read, admission, policies),
      rule('get patch update', admission, `${policies}/status`),
      events,
    ],
  };
}
