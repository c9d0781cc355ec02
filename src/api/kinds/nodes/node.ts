import { checkLabelValue, checkQualifiedName } from '../../names/index.ts';
import type { Infer } from '../../schema/index.ts';
import { checkCidr, familyOfCidr } from '../addresses.ts';
import {
  causesOf,
  duplicateValue,
  forbiddenValue,
  invalidUnless,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from '../cause.ts';
import { ageColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause, Column } from '../kind.ts';
import { changeableMetadata } from '../kind.ts';
import { nodeDescription } from './node-description.ts';
import { nodeProxyOptions } from './node-proxy-options.ts';

export interface Node extends Infer<(typeof nodeDescription)['root']> {}
export interface NodeStatus extends Infer<(typeof nodeDescription)['nodeStatus']> {}
export interface NodeCondition extends Infer<(typeof nodeDescription)['nodeCondition']> {}
export interface NodeAddress extends Infer<(typeof nodeDescription)['nodeAddress']> {}
export interface NodeSystemInfo extends Infer<(typeof nodeDescription)['nodeSystemInfo']> {}
export interface Taint extends Infer<(typeof nodeDescription)['taint']> {}

const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function validate(node: Node, old: Node | undefined): Cause[] {
  return [
    ...taintCauses(node.spec?.taints ?? []),
    ...addressCauses(node.status?.addresses ?? []),
    ...capacityCauses('capacity', node.status?.capacity ?? {}),
    ...capacityCauses('allocatable', node.status?.allocatable ?? {}),
    ...podRangeCauses(node.spec?.podCIDRs ?? []),
    ...specChangeCauses(node.spec ?? {}, old?.spec ?? {}),
  ];
}

function taintCauses(taints: readonly Taint[]): Cause[] {
  const earlier = new Set<string>();
  return causesOf(taints, (taint, index) => {
    const path = `spec.taints[${index}]`;
    const identity = JSON.stringify([taint.key, taint.effect]);
    const again = earlier.has(identity);
    earlier.add(identity);
    return [
      ...invalidUnless(`${path}.key`, taint.key, checkQualifiedName(taint.key)),
      ...invalidUnless(`${path}.value`, taint.value ?? '', checkLabelValue(taint.value ?? '')),
      ...effectCauses(`${path}.effect`, taint.effect),
      ...(again ? [createDuplicateCause(path, taint)] : []),
    ];
  });
}

function createDuplicateCause(field: string, taint: Taint): Cause {
  const cause = duplicateValue(field, taint.key);
  return { ...cause, message: `${cause.message}: taints must be unique by key and effect pair` };
}

function effectCauses(field: string, effect: string): Cause[] {
  if (effect === '') return [requiredValue(field)];
  return taintEffects.includes(effect) ? [] : [unsupportedValue(field, effect, taintEffects)];
}

function addressCauses(addresses: readonly NodeAddress[]): Cause[] {
  const earlier = new Set<string>();
  return causesOf(addresses, ({ type, address }, index) => {
    const identity = JSON.stringify([type, address]);
    const again = earlier.has(identity);
    earlier.add(identity);
    return again ? [duplicateValue(`status.addresses[${index}]`, address)] : [];
  });
}

function capacityCauses(name: string, quantities: Readonly<Record<string, string>>): Cause[] {
  return causesOf(Object.entries(quantities), ([resource, quantity]) => [
    ...invalidUnless(`status.${name}.${resource}`, resource, checkQualifiedName(resource)),
    ...invalidUnless(
      `status.${name}.${resource}`,
      quantity,
      quantity.startsWith('-') ? 'must be greater than or equal to 0' : undefined,
    ),
  ]);
}

/** One range for each family of addresses. */
function podRangeCauses(ranges: readonly string[]): Cause[] {
  const field = 'spec.podCIDRs';
  const causes = causesOf(ranges, (range, index) =>
    invalidUnless(`${field}[${index}]`, range, checkCidr(range)),
  );
  if (causes.length > 0 || new Set(ranges.map(familyOfCidr)).size === ranges.length) return causes;
  return [invalidValue(field, ranges, 'may specify no more than one CIDR for each IP family')];
}

/** Fields of a node that cannot change once they are set. */
function specChangeCauses(next: NonNullable<Node['spec']>, old: NonNullable<Node['spec']>): Cause[] {
  const causes: Cause[] = [];
  if (old.providerID && next.providerID !== old.providerID) {
    causes.push(createImmutableCause('spec.providerID', 'providerID'));
  }
  const ranges = podRanges(old);
  if (ranges.length > 0 && ranges.join() !== podRanges(next).join()) {
    causes.push(createImmutableCause('spec.podCIDRs', 'podCIDR'));
  }
  return causes;
}

function podRanges({ podCIDR, podCIDRs }: NonNullable<Node['spec']>): readonly string[] {
  return podCIDRs ?? (podCIDR ? [podCIDR] : []);
}

function createImmutableCause(field: string, name: string): Cause {
  return forbiddenValue(field, `node updates may not change ${name} except from "" to valid`);
}

const rolePrefix = 'node-role.kubernetes.io/';

const roleLabel = 'kubernetes.io/role';

function formatRoles(node: Node): string {
  const named = new Set<string>();
  for (const [label, value] of Object.entries(node.metadata?.labels ?? {})) {
    if (label.startsWith(rolePrefix)) named.add(label.slice(rolePrefix.length));
    else if (label === roleLabel) named.add(value);
  }
  named.delete('');
  return [...named].sort().join(',') || '<none>';
}

function formatReadiness(node: Node): string {
  const ready = node.status?.conditions?.find((condition) => condition.type === 'Ready');
  const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return node.spec?.unschedulable ? `${state},SchedulingDisabled` : state;
}

function address(type: string): (node: Node) => string {
  return (node) => node.status?.addresses?.find((entry) => entry.type === type)?.address || '<none>';
}

function column(
  name: string,
  priority: number,
  description: string,
  value: (node: Node) => string,
): Column<Node> {
  return { name, type: 'string', description, priority, value };
}

/** podCIDR equals the first of podCIDRs; each is filled in from the other. */
function withPodRanges(node: Node): Node {
  const { podCIDR, podCIDRs = [] } = node.spec ?? {};
  if (podCIDR && podCIDRs.length === 0) return { ...node, spec: { ...node.spec, podCIDRs: [podCIDR] } };
  const [first] = podCIDRs;
  return !podCIDR && first ? { ...node, spec: { ...node.spec, podCIDR: first } } : node;
}

/** Where nothing is set apart for the system, ordinary pods may use all there is. */
function withAllocatable(node: Node): Node {
  const { status } = node;
  if (status?.capacity === undefined || status.allocatable !== undefined) return node;
  return { ...node, status: { ...status, allocatable: { ...status.capacity } } };
}

/** A machine of the cluster. */
export const nodeKind = defineKind<Node>({
  group: '',
  version: 'v1',
  kind: 'Node',
  doc: 'A machine that can run pods, with its state as its agent reports it.',
  resource: 'nodes',
  singular: 'node',
  shortNames: ['no'],
  namespaced: false,
  root: nodeDescription.root,
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      fields: ['status'],
      metadata: changeableMetadata,
    },
    {
      name: 'proxy',
      verbs: ['create', 'delete', 'get', 'patch', 'update'],
      fields: [],
      body: nodeProxyOptions,
      connects: true,
    },
  ],
  default: (node) => withAllocatable(withPodRanges(node)),
  validate,
  columns: [
    column('Status', 0, 'Whether the node is ready.', formatReadiness),
    column('Roles', 0, 'Roles of the node, from its labels.', formatRoles),
    ageColumn,
    column('Version', 0, 'Version of the agent.', (node) => node.status?.nodeInfo?.kubeletVersion ?? ''),
    column('Internal-IP', 1, 'Address inside the cluster.', address('InternalIP')),
    column('External-IP', 1, 'Address from outside the cluster.', address('ExternalIP')),
    column('OS-Image', 1, 'Operating system.', (node) => node.status?.nodeInfo?.osImage || '<unknown>'),
    column('Kernel-Version', 1, 'Kernel.', (node) => node.status?.nodeInfo?.kernelVersion || '<unknown>'),
    column(
      'Container-Runtime',
      1,
      'Container runtime.',
      (node) => node.status?.nodeInfo?.containerRuntimeVersion || '<unknown>',
    ),
  ],
  selectable: [{ path: 'spec.unschedulable', value: (node) => String(node.spec?.unschedulable ?? false) }],
});
