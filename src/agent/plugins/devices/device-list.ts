import type { Device as DeviceMessage, ListAndWatchResponse } from './gen/device-plugin_pb.js';
import { limits } from './limits.ts';
import type { Device } from './types.ts';

/** What a plugin has listed, and what was wrong with it. */
export interface DeviceList {
  readonly devices: ReadonlyMap<string, Device>;
  /** For people; bounded. */
  readonly remarks: readonly string[];
}

/** Throws an Error for a list that is too long to be taken. */
export function readDevices({ devices }: ListAndWatchResponse): DeviceList {
  if (devices.length > limits.devices) {
    throw new Error(`the plugin lists ${devices.length} devices; at most ${limits.devices} are taken`);
  }
  const taken = new Map<string, Device>();
  const wrong = { ids: 0, twice: 0, nodes: 0 };
  for (const message of devices) {
    const { ID: id } = message;
    if (!isId(id)) {
      wrong.ids += 1;
      continue;
    }
    const numaNodes = nodesOf(message);
    if (numaNodes === undefined) wrong.nodes += 1;
    const told = { id, healthy: message.health === 'Healthy', numaNodes: numaNodes ?? [] };
    const before = taken.get(id);
    if (before !== undefined) wrong.twice += 1;
    taken.set(id, before === undefined ? told : { ...told, healthy: told.healthy && before.healthy });
  }
  return { devices: taken, remarks: remarksOn(wrong) };
}

function isId(id: string): boolean {
  return id !== '' && id.length <= limits.idLength && !/\p{Cc}/u.test(id);
}

/** Undefined where one of them cannot be; -1 is how plugins say that they do not know. */
function nodesOf({ topology }: DeviceMessage): readonly number[] | undefined {
  const told = (topology?.nodes ?? []).map(({ ID }) => ID).filter((id) => id !== -1n);
  if (told.some((id) => id < 0n || id > BigInt(limits.numaNode))) return undefined;
  return [...new Set(told.map(Number))].sort((a, b) => a - b);
}

function remarksOn({ ids, twice, nodes }: { ids: number; twice: number; nodes: number }): string[] {
  const wrongId = `are left out: their ids are empty, longer than ${limits.idLength} or hold control characters`;
  return [
    ...(ids > 0 ? [`${ids} devices ${wrongId}`] : []),
    ...(twice > 0 ? [`${twice} ids are listed again; such a device is healthy only where each says so`] : []),
    ...(nodes > 0 ? [`${nodes} devices name NUMA nodes that cannot be; they count as near to none`] : []),
  ];
}

export function sameDevices(a: ReadonlyMap<string, Device>, b: ReadonlyMap<string, Device>): boolean {
  if (a.size !== b.size) return false;
  for (const [id, one] of a) {
    const other = b.get(id);
    if (other === undefined || one.healthy !== other.healthy) return false;
    if (one.numaNodes.join() !== other.numaNodes.join()) return false;
  }
  return true;
}

/** As they count while nobody vouches for them. */
export function unhealthy(devices: ReadonlyMap<string, Device>): ReadonlyMap<string, Device> {
  return new Map([...devices].map(([id, device]) => [id, { ...device, healthy: false }]));
}
