import { checkLabelValue, checkName, checkQualifiedName } from '../../../api/index.ts';
import type { NodeGetInfoResponse } from './gen/csi_pb.js';
import type { NodeInfo } from './types.ts';

const driverNameLimit = 63;
const nodeIdLimitBytes = 256;
/** The limit of topology labels of one driver; each becomes a label of the Node. */
const topologyLimit = 64;
const countLimit = 2 ** 31 - 1;

/** Throws an Error when the API would refuse a CSINode with a driver of this name. */
export function checkDriverName(name: string): void {
  const wrong =
    name.length > driverNameLimit
      ? `must be no more than ${driverNameLimit} characters`
      : checkName('subdomain', name.toLowerCase());
  if (wrong !== undefined)
    throw new Error(`${JSON.stringify(name)} cannot be the name of a CSI driver: ${wrong}`);
}

/** Checks the response of a driver; throws an Error that says which part of it cannot be used. */
export function checkNodeInfo(answer: NodeGetInfoResponse): NodeInfo {
  return {
    nodeId: checkNodeId(answer.nodeId),
    maxVolumes: checkCount(answer.maxVolumesPerNode),
    topology: checkTopology(answer.accessibleTopology?.segments ?? {}),
  };
}

function checkNodeId(nodeId: string): string {
  if (nodeId === '') throw createFault('node_id', 'it is empty');
  const bytes = Buffer.byteLength(nodeId);
  if (bytes > nodeIdLimitBytes)
    throw createFault('node_id', `it has ${bytes} bytes, at most ${nodeIdLimitBytes} are allowed`);
  return nodeId;
}

/** Zero means that the cluster decides; a count above the API's int32 is reduced to it, as in the reference. */
function checkCount(count: bigint): number | undefined {
  if (count < 0n) throw createFault('max_volumes_per_node', `it is ${count}, and cannot be negative`);
  return count === 0n ? undefined : Math.min(Number(count), countLimit);
}

function checkTopology(segments: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(segments).sort(([one], [other]) => (one < other ? -1 : 1));
  if (entries.length > topologyLimit) {
    throw createFault(
      'accessible_topology',
      `it has ${entries.length} keys, at most ${topologyLimit} are allowed`,
    );
  }
  for (const [key, value] of entries) {
    const wrongKey = checkQualifiedName(key);
    if (wrongKey !== undefined)
      throw createFault(`accessible_topology: key ${JSON.stringify(key.slice(0, 320))}`, wrongKey);
    const wrongValue = checkLabelValue(value);
    if (wrongValue !== undefined) throw createFault(`accessible_topology: value of ${key}`, wrongValue);
  }
  return Object.fromEntries(entries);
}

function createFault(what: string, why: string): Error {
  return new Error(`NodeGetInfo: ${what}: ${why}`);
}
