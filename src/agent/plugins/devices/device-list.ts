import type { Device as DeviceMessage, ListAndWatchResponse } from './gen/device-plugin_pb.js';
import { limits } from './limits.ts';
import type { Device } from './types.ts';

/** The devices of a plugin's list, and the faults of the list. */
export interface DeviceList {
  readonly devices: ReadonlyMap<string, Device>;
  /** Messages for the user; of bounded number and length. */
  readonly remarks: readonly string[];
}

/** Throws an Error for a list that is too long. */
export function readDevices({ devices }: ListAndWatchResponse): DeviceList {
  if (devices.length > limits.devices) {
    throw new Error(`the plugin lists ${devices.length} devices; at most ${limits.devices} are taken`);
  }
  const taken = new Map<string, Device>();
  const wrong = { ids: 0, twice: 0, nodes: 0 };
  for (const message of devices) {
    const { ID: id } = message;
    if (!isUsableId(id)) {
      wrong.ids += 1;
      continue;
    }
    const numaNodes = readNumaNodes(message);
    if (numaNodes === undefined) wrong.nodes += 1;
    const device = { id, healthy: message.health === 'Healthy', numaNodes: numaNodes ?? [] };
    const before = taken.get(id);
    if (before !== undefined) wrong.twice += 1;
    taken.set(id, before === undefined ? device : { ...device, healthy: device.healthy && before.healthy });
  }
  return { devices: taken, remarks: formatRemarks(wrong) };
}

function isUsableId(id: string): boolean {
  return id !== '' && id.length <= limits.idLength && !/\p{Cc}/u.test(id);
}

/** Returns undefined when a node's id is out of range; plugins use -1 for "unknown". */
function readNumaNodes({ topology }: DeviceMessage): readonly number[] | undefined {
  const ids = (topology?.nodes ?? []).map(({ ID }) => ID).filter((id) => id !== -1n);
  if (ids.some((id) => id < 0n || id > BigInt(limits.numaNode))) return undefined;
  return [...new Set(ids.map(Number))].sort((a, b) => a - b);
}

function formatRemarks({ ids, twice, nodes }: { ids: number; twice: number; nodes: number }): string[] {
  const wrongId = `are left out: their ids are empty, longer than ${limits.idLength} or hold control characters`;
  return [
    ...(ids > 0 ? [`${ids} devices ${wrongId}`] : []),
    ...(twice > 0 ? [`${twice} ids are listed again; such a device is healthy only where each says so`] : []),
    ...(nodes > 0 ? [`${nodes} devices name NUMA nodes that cannot be; they count as near to none`] : []),
  ];
}

export function hasSameDevices(a: ReadonlyMap<string, Device>, b: ReadonlyMap<string, Device>): boolean {
  if (a.size !== b.size) return false;
  for (const [id, one] of a) {
    const other = b.get(id);
    if (other === undefined || one.healthy !== other.healthy) return false;
    if (one.numaNodes.join() !== other.numaNodes.join()) return false;
  }
  return true;
}

/** The same devices as unhealthy: their state while no plugin reports on them. */
export function toUnhealthy(devices: ReadonlyMap<string, Device>): ReadonlyMap<string, Device> {
  return new Map([...devices].map(([id, device]) => [id, { ...device, healthy: false }]));
}
