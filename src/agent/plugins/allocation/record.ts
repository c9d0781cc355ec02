import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { isRecord } from '../../../api/index.ts';
import type { StateRecord } from '../../../base/state-file/index.ts';
import type { ContainerAllocation } from '../devices/index.ts';
import { ContainerAllocateResponseSchema } from '../devices/index.ts';
import { byId } from './device-choice.ts';
import type { RegisteredIds } from './registered-devices.ts';
import type { HeldDevice, Holding } from './types.ts';

/** The content of the state file (specification 2.6). */
export interface DeviceRecord {
  readonly holdings: readonly Holding[];
  /** Ids of the devices of every known resource. */
  readonly registered: RegisteredIds;
}

/**
 * The content of the reference's file, with the names that its readers expect: devices by NUMA node, -1 for those without
 * one; the plugin's response as on the wire, in base64.
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

/** Creates the formatter of the file. Each holding, which never changes, is converted once. */
export function createFileFormatter(): (record: DeviceRecord) => FileContent {
  const entries = new WeakMap<Holding, FileEntry>();
  const format = (holding: Holding): FileEntry => {
    const entry = entries.get(holding) ?? toFileEntry(holding);
    entries.set(holding, entry);
    return entry;
  };
  return ({ holdings, registered }) => ({
    Data: { PodDeviceEntries: holdings.map(format), RegisteredDevices: registered },
  });
}

/** Throws an Error for invalid content. */
export function parseFileContent(members: StateRecord): DeviceRecord {
  const data = requireRecord(members['Data'], 'Data');
  const entries = data['PodDeviceEntries'];
  if (!Array.isArray(entries)) throw new Error('has no list PodDeviceEntries');
  const registered = Object.entries(requireRecord(data['RegisteredDevices'], 'RegisteredDevices'));
  const holdings = entries.map((entry: unknown) => parseHolding(requireRecord(entry, 'an entry of a pod')));
  refuseSharedDevices(holdings);
  return {
    holdings,
    registered: Object.fromEntries(registered.map(([name, ids]) => [name, requireTexts(ids, name)])),
  };
}

function toFileEntry(holding: Holding): FileEntry {
  const { podUid, containerName, resourceName, devices, response } = holding;
  return {
    PodUID: podUid,
    ContainerName: containerName,
    ResourceName: resourceName,
    DeviceIDs: groupByNode(devices),
    AllocResp: encodeResponse(response),
  };
}

function groupByNode(devices: readonly HeldDevice[]): Record<string, string[]> {
  const nodes = new Map<number, string[]>();
  for (const { id, numaNodes } of devices) {
    for (const node of numaNodes.length === 0 ? [withoutNode] : numaNodes) {
      nodes.set(node, [...(nodes.get(node) ?? []), id]);
    }
  }
  return Object.fromEntries(nodes);
}

function parseHolding(entry: StateRecord): Holding {
  return {
    podUid: requireText(entry, 'PodUID'),
    containerName: requireText(entry, 'ContainerName'),
    resourceName: requireText(entry, 'ResourceName'),
    devices: parseDevices(requireRecord(entry['DeviceIDs'], 'DeviceIDs')),
    response: decodeResponse(requireText(entry, 'AllocResp', true)),
  };
}

function parseDevices(nodes: StateRecord): HeldDevice[] {
  const found = new Map<string, number[]>();
  for (const [name, ids] of Object.entries(nodes)) {
    const node = Number(name);
    if (!Number.isInteger(node) || node < withoutNode) throw new Error(`names a NUMA node ${name}`);
    for (const id of requireTexts(ids, 'DeviceIDs')) {
      found.set(id, [...(found.get(id) ?? []), ...(node === withoutNode ? [] : [node])]);
    }
  }
  const devices = [...found].map(([id, numaNodes]) => ({ id, numaNodes: numaNodes.sort((a, b) => a - b) }));
  return devices.sort(byId);
}

/** Throws when two pods hold the same device: a file written by this agent never says so, and its meaning would be unclear. */
function refuseSharedDevices(holdings: readonly Holding[]): void {
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

function encodeResponse(response: ContainerAllocation): string {
  const { cdiDevices, ...rest } = response;
  const message = create(ContainerAllocateResponseSchema, {
    ...rest,
    mounts: [...rest.mounts],
    devices: [...rest.devices],
    cdiDevices: cdiDevices.map((name) => ({ name })),
  });
  return Buffer.from(toBinary(ContainerAllocateResponseSchema, message)).toString('base64');
}

function decodeResponse(text: string): ContainerAllocation {
  const response = fromBinary(ContainerAllocateResponseSchema, Buffer.from(text, 'base64'));
  const { envs, annotations, mounts, devices, cdiDevices } = response;
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

function requireRecord(value: unknown, what: string): StateRecord {
  if (!isRecord(value)) throw new Error(`has no object ${what}`);
  return value;
}

function requireText(record: StateRecord, name: string, mayBeEmpty = false): string {
  const value = record[name];
  if (typeof value !== 'string' || (value === '' && !mayBeEmpty)) throw new Error(`has no text ${name}`);
  return value;
}

function requireTexts(value: unknown, what: string): string[] {
  if (!Array.isArray(value)) throw new Error(`has no list of texts ${what}`);
  return value.map((each: unknown) => {
    if (typeof each !== 'string') throw new Error(`has no list of texts ${what}`);
    return each;
  });
}
