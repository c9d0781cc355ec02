import type { PolicyRule } from '../../../api/index.ts';
import type { Groups } from './groups.ts';
import type { DefaultBinding, DefaultRole } from './policy.ts';
import { read, rule } from './policy.ts';

/*
 * For the reference's own scheduler and controller manager, which may be run beside this control plane under their usual
 * names.
 */

const scheduler = 'system:kube-scheduler';
const volumeScheduler = 'system:volume-scheduler';
const controllerManager = 'system:kube-controller-manager';
const readUpdate = `${read} patch update`;

/** Who they are. */
export const componentBindings: readonly DefaultBinding[] = [
  { name: scheduler, groups: [], users: [scheduler] },
  { name: volumeScheduler, groups: [], users: [scheduler] },
  { name: controllerManager, groups: [], users: [controllerManager] },
];

export function componentRoles(groups: Groups): DefaultRole[] {
  return [
    { name: scheduler, rules: schedulerRules(groups) },
    { name: volumeScheduler, rules: volumeRules(groups) },
    { name: controllerManager, rules: controllerManagerRules(groups) },
  ];
}

/** To report what they do, to be the one that does it, and to ask who calls them. */
function ownRules(
  { events, coordination, authentication, authorization }: Groups,
  lease: string,
): PolicyRule[] {
  return [
    rule('create patch update', '', 'events'),
    rule('create patch update', events, 'events'),
    rule('create', coordination, 'leases'),
    { ...rule('get update', coordination, 'leases'), resourceNames: [lease] },
    rule('create', authentication, 'tokenreviews'),
    rule('create', authorization, 'subjectaccessreviews'),
  ];
}

function schedulerRules(groups: Groups): PolicyRule[] {
  const { storage, resource } = groups;
  return [
    ...ownRules(groups, 'kube-scheduler'),
    rule(
      read,
      '',
      'namespaces nodes persistentvolumeclaims persistentvolumes replicationcontrollers services',
    ),
    rule(`delete ${read}`, '', 'pods'),
    rule('create', '', 'bindings pods/binding'),
    rule('patch update', '', 'pods/status'),
    rule('update', '', 'pods/finalizers'),
    rule(read, 'apps', 'replicasets statefulsets'),
    rule(read, 'policy', 'poddisruptionbudgets'),
    rule(read, storage, 'csidrivers csinodes csistoragecapacities volumeattachments'),
    rule(read, resource, 'deviceclasses resourceclaims resourceslices'),
    rule('patch update', resource, 'resourceclaims resourceclaims/status'),
  ];
}

function volumeRules({ storage }: Groups): PolicyRule[] {
  return [
    rule(readUpdate, '', 'persistentvolumeclaims persistentvolumes'),
    rule(read, storage, 'storageclasses'),
  ];
}

/** The controllers themselves work as service accounts of their own where that is asked for. */
function controllerManagerRules(groups: Groups): PolicyRule[] {
  return [
    ...ownRules(groups, 'kube-controller-manager'),
    rule('create', '', 'secrets serviceaccounts serviceaccounts/token'),
    rule('delete', '', 'secrets'),
    rule('get', '', 'configmaps namespaces secrets serviceaccounts'),
    rule('update', '', 'secrets serviceaccounts'),
    rule('list watch', '*', '*'),
  ];
}
