import type { PolicyRule } from '../../../api/index.ts';
import { groupName } from '../../../api/index.ts';

/**
 * What node agents do, as a role would say it, in the words of the reference. Whatever of it can be told apart by the
 * node, its own and that of others, the node authorizer decides more narrowly.
 */
export function nodeRules(groupSuffix: string): PolicyRule[] {
  const group = (name: string) => groupName(name, groupSuffix);
  return [
    rule('create', group('authentication'), 'tokenreviews'),
    rule('create', group('authorization'), 'localsubjectaccessreviews subjectaccessreviews'),
    rule('create get list patch update watch', '', 'nodes'),
    rule('patch update', '', 'nodes/status pods/status'),
    rule('create delete get list watch', '', 'pods'),
    rule('create', '', 'pods/eviction serviceaccounts/token'),
    rule('get list watch', '', 'configmaps secrets services'),
    rule('get', '', 'persistentvolumeclaims serviceaccounts'),
    rule('create patch update', '', 'events'),
    rule('create patch update', group('events'), 'events'),
    rule('create get list watch', group('certificates'), 'certificatesigningrequests'),
    rule('create delete get patch update', group('coordination'), 'leases'),
    rule('create delete get patch update', group('storage'), 'csinodes'),
  ];
}

function rule(verbs: string, group: string, resources: string): PolicyRule {
  return { verbs: verbs.split(' '), apiGroups: [group], resources: resources.split(' ') };
}
