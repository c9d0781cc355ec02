import { isDeepStrictEqual } from 'node:util';
import type { CSINode, CSINodeDriver, OwnerReference } from '../../../api/index.ts';
import type { CsiDriver } from './types.ts';

/** The node that the CSINode belongs to. */
export interface NodeIdentity {
  readonly name: string;
  readonly uid: string;
}

/** Creates a CSINode without drivers, which says that the node's agent supports CSI. */
export function createCsiNode(node: NodeIdentity): CSINode {
  return { metadata: { name: node.name, ownerReferences: [toOwner(node)] }, spec: { drivers: [] } };
}

function toOwner({ name, uid }: NodeIdentity): OwnerReference {
  return { apiVersion: 'v1', kind: 'Node', name, uid };
}

/** Returns the CSINode with the present Node as its owner; undefined when that is its owner already. */
export function setOwner(stored: CSINode, node: NodeIdentity): CSINode | undefined {
  const owners = stored.metadata?.ownerReferences ?? [];
  const others = owners.filter(({ kind, name }) => kind !== 'Node' || name !== node.name);
  const isOwned = owners.some(
    ({ kind, name, uid }) => kind === 'Node' && name === node.name && uid === node.uid,
  );
  if (isOwned && others.length === owners.length - 1) return undefined;
  return { ...stored, metadata: { ...stored.metadata, ownerReferences: [...others, toOwner(node)] } };
}

/**
 * Returns the next write towards a CSINode that has this driver; undefined when it has it. Other drivers stay as they are.
 * An entry whose id or topology has changed is removed by one write and added by the next: it is immutable in place.
 */
export function putDriver(stored: CSINode, driver: CsiDriver): CSINode | undefined {
  const wanted = toEntry(driver);
  const drivers = stored.spec.drivers;
  const present = drivers.find(({ name }) => name === driver.name);
  if (present === undefined) return replaceDrivers(stored, [...drivers, wanted]);
  if (!hasSameFixedFields(present, wanted))
    return replaceDrivers(stored, excludeDriver(drivers, driver.name));
  if (present.allocatable?.count === wanted.allocatable?.count) return undefined;
  return replaceDrivers(
    stored,
    drivers.map((each) =>
      each === present ? { ...wanted, topologyKeys: present.topologyKeys ?? [] } : each,
    ),
  );
}

/** Returns the CSINode without these drivers; undefined when it has none of them. */
export function removeDrivers(stored: CSINode, gone: ReadonlySet<string>): CSINode | undefined {
  const left = stored.spec.drivers.filter(({ name }) => !gone.has(name));
  return left.length === stored.spec.drivers.length ? undefined : replaceDrivers(stored, left);
}

function toEntry({ name, nodeId, topology, maxVolumes }: CsiDriver): CSINodeDriver {
  return {
    name,
    nodeID: nodeId,
    topologyKeys: Object.keys(topology).sort(),
    ...(maxVolumes === undefined ? {} : { allocatable: { count: maxVolumes } }),
  };
}

function hasSameFixedFields(one: CSINodeDriver, other: CSINodeDriver): boolean {
  const keys = ({ topologyKeys }: CSINodeDriver) => [...(topologyKeys ?? [])].sort();
  return one.nodeID === other.nodeID && isDeepStrictEqual(keys(one), keys(other));
}

function replaceDrivers(stored: CSINode, drivers: CSINodeDriver[]): CSINode {
  return { ...stored, spec: { ...stored.spec, drivers } };
}

function excludeDriver(drivers: readonly CSINodeDriver[], gone: string): CSINodeDriver[] {
  return drivers.filter(({ name }) => name !== gone);
}
