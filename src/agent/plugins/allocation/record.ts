import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { isRecord } from '../../../api/index.ts';
import type { StateRecord } from '../../../base/state-file/index.ts';
import type { ContainerAllocation } from '../devices/index.ts';
import { ContainerAllocateResponseSchema } from '../devices/index.ts';
import { byId } from './device-choice.ts';
import type { RegisteredIds } from './registered-devices.ts';
import type { HeldDevice, Holding } from './types.ts';

/** What the state file holds (specification 2.6). */
export interface DeviceRecord {
  readonly holdings: readonly Holding[];
  /** Ids of the devices of every resource that was known. */
  readonly registered: RegisteredIds;
}

/**
 * The content of the reference's file, by the names that its readers look for: devices by NUMA node, -1 for those
 * without one; the plugin's answer as it was on the wire, in base64.
 */
interface FileContent {
  readonly Data: {
    readonly PodDeviceEntries: readonly FileEntry[];
    readonly RegisteredDevices: RegisteredIds;
  };
}

interface FileEntry {
  readonly PodUID: string;
  readonly ContainerName: string;
  readonly ResourceName: string;
  readonly DeviceIDs: Readonly<Record<string, readonly string[]>>;
  readonly AllocResp: string;
}

const withoutNode = -1;

/** Makes what is written. A holding, which never changes, is put into its form once. */
export function createFileForm(): (record: DeviceRecord) => FileContent {
  const entries = new WeakMap<Holding, FileEntry>();
  const formed = (holding: Holding): FileEntry => {
    const entry = entries.get(holding) ?? entryOf(holding);
    entries.set(holding, entry);
    return entry;
  };
  return ({ holdings, registered }) => ({
    Data: { PodDeviceEntries: holdings.map(formed), RegisteredDevices: registered },
  });
}

/** Throws an Error for what is no such content. */
export function fromFile(members: StateRecord): DeviceRecord {
  const data = recordOf(members['Data'], 'Data');
  const entries = data['PodDeviceEntries'];
  if (!Array.isArray(entries)) throw new Error('has no list PodDeviceEntries');
  const registered = Object.entries(recordOf(data['RegisteredDevices'], 'RegisteredDevices'));
  const holdings = entries.map((entry: unknown) => holdingOf(recordOf(entry, 'an entry of a pod')));
  refuseTwice(holdings);
  return {
    holdings,
    registered: Object.fromEntries(registered.map(([name, ids]) => [name, textsOf(ids, name)])),
  };
}

function entryOf(holding: Holding): FileEntry {
  const { podUid, containerName, resourceName, devices, response } = holding;
  return {
    PodUID: podUid,
    ContainerName: containerName,
    ResourceName: resourceName,
    DeviceIDs: byNode(devices),
    AllocResp: responseText(response),
  };
}

function byNode(devices: readonly HeldDevice[]): Record<string, string[]> {
  const nodes = new Map<number, string[]>();
  for (const { id, numaNodes } of devices) {
    for (const node of numaNodes.length === 0 ? [withoutNode] : numaNodes) {
      nodes.set(node, [...(nodes.get(node) ?? []), id]);
    }
  }
  return Object.fromEntries(nodes);
}

function holdingOf(entry: StateRecord): Holding {
  return {
    podUid: textOf(entry, 'PodUID'),
    containerName: textOf(entry, 'ContainerName'),
    resourceName: textOf(entry, 'ResourceName'),
    devices: devicesOf(recordOf(entry['DeviceIDs'], 'DeviceIDs')),
    response: responseOf(textOf(entry, 'AllocResp', true)),
  };
}

function devicesOf(nodes: StateRecord): HeldDevice[] {
  const found = new Map<string, number[]>();
  for (const [name, ids] of Object.entries(nodes)) {
    const node = Number(name);
    if (!Number.isInteger(node) || node < withoutNode) throw new Error(`names a NUMA node ${name}`);
    for (const id of textsOf(ids, 'DeviceIDs')) {
      found.set(id, [...(found.get(id) ?? []), ...(node === withoutNode ? [] : [node])]);
    }
  }
  const devices = [...found].map(([id, numaNodes]) => ({ id, numaNodes: numaNodes.sort((a, b) => a - b) }));
  return devices.sort(byId);
}

/** Made by us it never says so, and what it means could not be told. */
function refuseTwice(holdings: readonly Holding[]): void {
  const owners = new Map<string, string>();
  for (const { podUid, resourceName, devices } of holdings) {
    for (const { id } of devices) {
      const key = `${resourceName}\0${id}`;
      const owner = owners.get(key) ?? podUid;
      if (owner !== podUid) throw new Error(`gives ${id} of ${resourceName} to two pods`);
      owners.set(key, owner);
    }
  }
}

function responseText(response: ContainerAllocation): string {
  const { cdiDevices, ...rest } = response;
  const message = create(ContainerAllocateResponseSchema, {
    ...rest,
    mounts: [...rest.mounts],
    devices: [...rest.devices],
    cdiDevices: cdiDevices.map((name) => ({ name })),
  });
  return Buffer.from(toBinary(ContainerAllocateResponseSchema, message)).toString('base64');
}

function responseOf(text: string): ContainerAllocation {
  const told = fromBinary(ContainerAllocateResponseSchema, Buffer.from(text, 'base64'));
  const { envs, annotations, mounts, devices, cdiDevices } = told;
  return {
    envs: { ...envs },
    annotations: { ...annotations },
    mounts: mounts.map(({ containerPath, hostPath, readOnly }) => ({ containerPath, hostPath, readOnly })),
    devices: devices.map(({ containerPath, hostPath, permissions }) => ({
      containerPath,
      hostPath,
      permissions,
    })),
    cdiDevices: cdiDevices.map(({ name }) => name),
  };
}

function recordOf(value: unknown, what: string): StateRecord {
  if (!isRecord(value)) throw new Error(`has no object ${what}`);
  return value;
}

function textOf(record: StateRecord, name: string, mayBeEmpty = false): string {
  const value = record[name];
  if (typeof value !== 'string' || (value === '' && !mayBeEmpty)) throw new Error(`has no text ${name}`);
  return value;
}

function textsOf(value: unknown, what: string): string[] {
  if (!Array.isArray(value)) throw new Error(`has no list of texts ${what}`);
  return value.map((each: unknown) => {
    if (typeof each !== 'string') throw new Error(`has no list of texts ${what}`);
    return each;
  });
}
