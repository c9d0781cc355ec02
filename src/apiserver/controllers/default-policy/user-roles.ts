import type { PolicyRule } from '../../../api/index.ts';
import type { Groups } from './groups.ts';
import type { DefaultRole } from './policy.ts';
import { read, rule, write } from './policy.ts';

/*
 * For people: `view` reads what is in a namespace except secrets, `edit` changes it, `admin` also decides who else may.
 * Each aggregates the roles with its label, so an extension with further kinds adds a role with that label:
 *
 *     aggregate-to-view ──► view ─┐
 *     aggregate-to-edit ──────────┴► edit ─┐
 *     aggregate-to-admin ──────────────────┴► admin
 */

export function userRoles(groups: Groups): DefaultRole[] {
  const aggregationLabel = (name: string) => `${groups.rbac}/aggregate-to-${name}`;
  const labels = (name: string) => ({ labels: { [aggregationLabel(name)]: 'true' } });
  const everything = [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ];
  return [
    { name: 'cluster-admin', rules: everything },
    { name: 'admin', aggregates: aggregationLabel('admin') },
    { name: 'edit', aggregates: aggregationLabel('edit'), ...labels('admin') },
    { name: 'view', aggregates: aggregationLabel('view'), ...labels('edit') },
    { name: 'nodeward:access-reader', rules: accessRules(groups) },
    { name: 'system:aggregate-to-admin', rules: adminRules(groups), ...labels('admin') },
    { name: 'system:aggregate-to-edit', rules: editRules(groups), ...labels('edit') },
    { name: 'system:aggregate-to-view', rules: viewRules(groups), ...labels('view') },
    metricsReader(groups, ['view', 'edit', 'admin'].map(aggregationLabel)),
  ];
}

/** As the program ships it that serves these in the reference. */
function metricsReader({ metrics }: Groups, labels: readonly string[]): DefaultRole {
  return {
    name: 'system:aggregated-metrics-reader',
    labels: Object.fromEntries(labels.map((label) => [label, 'true'])),
    rules: [rule(read, metrics, 'nodes pods')],
  };
}

/** Access queries. Their results reveal all roles and bindings, so these may be read as well. */
function accessRules({ access, rbac }: Groups): PolicyRule[] {
  return [
    rule('create', access, 'accessdiffs accessexplanations accessqueries'),
    rule(read, rbac, 'clusterrolebindings clusterroles rolebindings roles'),
  ];
}

function adminRules({ authorization, rbac }: Groups): PolicyRule[] {
  return [
    rule('create', authorization, 'localsubjectaccessreviews'),
    rule(`${write} ${read}`, rbac, 'rolebindings roles'),
  ];
}

const workloads = 'daemonsets deployments replicasets statefulsets';
const scales = 'deployments/scale replicasets/scale statefulsets/scale';

function editRules({ coordination, networking }: Groups): PolicyRule[] {
  return [
    rule(read, '', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'),
    rule('impersonate', '', 'serviceaccounts'),
    rule(write, '', 'pods pods/attach pods/exec pods/portforward pods/proxy'),
    rule('create', '', 'pods/eviction serviceaccounts/token'),
    rule(
      write,
      '',
      'configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets ' +
        'serviceaccounts services services/proxy',
    ),
    rule(write, 'apps', `${workloads} deployments/rollback ${scales}`),
    rule(write, 'autoscaling', 'horizontalpodautoscalers'),
    rule(write, 'batch', 'cronjobs jobs'),
    rule(write, 'policy', 'poddisruptionbudgets'),
    rule(write, networking, 'ingresses networkpolicies'),
    rule(`${write} ${read}`, coordination, 'leases'),
  ];
}

function viewRules({ discovery, events, networking, placement }: Groups): PolicyRule[] {
  return [
    rule(
      read,
      '',
      'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers ' +
        'replicationcontrollers/scale serviceaccounts services services/status',
    ),
    rule(
      read,
      '',
      'bindings events limitranges namespaces/status pods/log pods/status replicationcontrollers/status ' +
        'resourcequotas resourcequotas/status',
    ),
    rule(read, '', 'namespaces'),
    rule(read, events, 'events'),
    rule(read, discovery, 'endpointslices'),
    rule(read, 'apps', `controllerrevisions ${workloads} ${statusOf(workloads)} ${scales}`),
    rule(read, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'),
    rule(read, 'batch', 'cronjobs cronjobs/status jobs jobs/status'),
    rule(read, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'),
    rule(read, networking, 'ingresses ingresses/status networkpolicies'),
    rule('create', placement, 'placementexplanations'), // of pods that the caller may read
  ];
}

function statusOf(resources: string): string {
  return resources.replaceAll(/\S+/g, '$&/status');
}
