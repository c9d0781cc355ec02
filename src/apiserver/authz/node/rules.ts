import type { PolicyRule } from '../../../api/index.ts';
import { groupName } from '../../../api/index.ts';

/**
 * The permissions of node agents in the form of a role, as in the reference. Where objects belong to a node, the node
 * authorizer decides more narrowly.
 */
export function listNodeRules(groupSuffix: string): PolicyRule[] {
  const group = (name: string) => groupName(name, groupSuffix);
  return [
    createRule('create', group('authentication'), 'tokenreviews'),
    createRule('create', group('authorization'), 'localsubjectaccessreviews subjectaccessreviews'),
    createRule('create get list patch update watch', '', 'nodes'),
    createRule('patch update', '', 'nodes/status pods/status'),
    createRule('create delete get list watch', '', 'pods'),
    createRule('create', '', 'pods/eviction serviceaccounts/token'),
    createRule('get list watch', '', 'configmaps secrets services'),
    createRule('get', '', 'persistentvolumeclaims persistentvolumes serviceaccounts'),
    createRule('get patch update', '', 'persistentvolumeclaims/status'),
    createRule('create patch update', '', 'events'),
    createRule('create patch update', group('events'), 'events'),
    createRule('create get list watch', group('certificates'), 'certificatesigningrequests'),
    createRule('get list watch', group('certificates'), 'clustertrustbundles'),
    createRule('create delete get patch update', group('coordination'), 'leases'),
    createRule('create delete get patch update', group('storage'), 'csinodes'),
    createRule('get', group('storage'), 'volumeattachments'),
    createRule('get list watch', group('storage'), 'csidrivers'),
    createRule('get list watch', group('node'), 'runtimeclasses'),
    createRule('get', group('resource'), 'resourceclaims'),
    createRule(
      'create delete deletecollection get list patch update watch',
      group('resource'),
      'resourceslices',
    ),
  ];
}

function createRule(verbs: string, group: string, resources: string): PolicyRule {
  return { verbs: verbs.split(' '), apiGroups: [group], resources: resources.split(' ') };
}
