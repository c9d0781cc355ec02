import { isDeepStrictEqual } from 'node:util';
import type { CSINode, CSINodeDriver, OwnerReference } from '../../../api/index.ts';
import type { CsiDriver } from './types.ts';

/** Whose CSINode it is. */
export interface NodeIdentity {
  readonly name: string;
  readonly uid: string;
}

/** One without drivers: it tells that the node's agent knows of CSI. */
export function newCsiNode(node: NodeIdentity): CSINode {
  return { metadata: { name: node.name, ownerReferences: [ownerOf(node)] }, spec: { drivers: [] } };
}

function ownerOf({ name, uid }: NodeIdentity): OwnerReference {
  return { apiVersion: 'v1', kind: 'Node', name, uid };
}

/** With the Node as it is now for its owner; undefined where it has it. */
export function ownedBy(stored: CSINode, node: NodeIdentity): CSINode | undefined {
  const owners = stored.metadata?.ownerReferences ?? [];
  const others = owners.filter(({ kind, name }) => kind !== 'Node' || name !== node.name);
  const isOwned = owners.some(
    ({ kind, name, uid }) => kind === 'Node' && name === node.name && uid === node.uid,
  );
  if (isOwned && others.length === owners.length - 1) return undefined;
  return { ...stored, metadata: { ...stored.metadata, ownerReferences: [...others, ownerOf(node)] } };
}

/**
 * The next write on the way to a CSINode that has this driver, all others as they are; undefined where it has. An entry
 * whose id or topology has changed goes first and comes with the write after: it may not be changed in place.
 */
export function withDriver(stored: CSINode, driver: CsiDriver): CSINode | undefined {
  const wanted = entryOf(driver);
  const drivers = stored.spec.drivers;
  const present = drivers.find(({ name }) => name === driver.name);
  if (present === undefined) return withDrivers(stored, [...drivers, wanted]);
  if (!isFixedAlike(present, wanted)) return withDrivers(stored, without(drivers, driver.name));
  if (present.allocatable?.count === wanted.allocatable?.count) return undefined;
  return withDrivers(
    stored,
    drivers.map((each) =>
      each === present ? { ...wanted, topologyKeys: present.topologyKeys ?? [] } : each,
    ),
  );
}

/** Undefined where none of them is in it. */
export function withoutDrivers(stored: CSINode, gone: ReadonlySet<string>): CSINode | undefined {
  const left = stored.spec.drivers.filter(({ name }) => !gone.has(name));
  return left.length === stored.spec.drivers.length ? undefined : withDrivers(stored, left);
}

function entryOf({ name, nodeId, topology, maxVolumes }: CsiDriver): CSINodeDriver {
  return {
    name,
    nodeID: nodeId,
    topologyKeys: Object.keys(topology).sort(),
    ...(maxVolumes === undefined ? {} : { allocatable: { count: maxVolumes } }),
  };
}

function isFixedAlike(one: CSINodeDriver, other: CSINodeDriver): boolean {
  const keys = ({ topologyKeys = [] }: CSINodeDriver) => [...topologyKeys].sort();
  return one.nodeID === other.nodeID && isDeepStrictEqual(keys(one), keys(other));
}

function withDrivers(stored: CSINode, drivers: CSINodeDriver[]): CSINode {
  return { ...stored, spec: { ...stored.spec, drivers } };
}

function without(drivers: readonly CSINodeDriver[], gone: string): CSINodeDriver[] {
  return drivers.filter(({ name }) => name !== gone);
}
