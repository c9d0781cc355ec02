import { findCdiFault } from '../devices/index.ts';
import type {
  Device,
  NodePrepareResourceResponse,
  NodePrepareResourcesResponse,
  NodeUnprepareResourcesResponse,
} from './gen/v1_pb.js';
import type { DraClaim, Prepared, PreparedDevice, Unprepared } from './types.ts';

/** More than a claim can be given; what is above was not meant. */
const limits = { devices: 256, requests: 256, cdiDeviceIds: 64, nameLength: 253, errorLength: 2048 } as const;

/** One for each claim; throws an Error for results of claims that were not asked for: then none of it can be trusted. */
export function preparedOf(
  claims: readonly DraClaim[],
  { claims: results }: NodePrepareResourcesResponse,
): Map<string, Prepared> {
  refuseUnknown(claims, Object.keys(results));
  return new Map(claims.map(({ uid }) => [uid, onePrepared(own(results, uid))]));
}

export function unpreparedOf(
  claims: readonly DraClaim[],
  { claims: results }: NodeUnprepareResourcesResponse,
): Map<string, Unprepared> {
  refuseUnknown(claims, Object.keys(results));
  return new Map(
    claims.map(({ uid }) => {
      const result = own(results, uid);
      return [uid, { error: result === undefined ? leftOut : cut(result.error) || undefined }];
    }),
  );
}

const leftOut = 'the driver has left this claim out of its answer';

/** The keys are the driver's: `constructor` is a claim of nobody. */
function own<T>(results: Readonly<Record<string, T>>, uid: string): T | undefined {
  return Object.hasOwn(results, uid) ? results[uid] : undefined;
}

function refuseUnknown(claims: readonly DraClaim[], answered: readonly string[]): void {
  const asked = new Set(claims.map(({ uid }) => uid));
  const unknown = answered.find((uid) => !asked.has(uid));
  if (unknown === undefined) return;
  throw new Error(`it answers for a claim ${JSON.stringify(unknown.slice(0, 64))} that was not asked for`);
}

function onePrepared(result: NodePrepareResourceResponse | undefined): Prepared {
  if (result === undefined) return { error: leftOut };
  if (result.error !== '') return { error: cut(result.error) };
  if (result.devices.length > limits.devices) {
    return {
      error: `the driver answers with ${result.devices.length} devices, at most ${limits.devices} are allowed`,
    };
  }
  for (const [index, device] of result.devices.entries()) {
    const fault = deviceFault(device);
    if (fault !== undefined)
      return { error: `the driver’s answer cannot be used: devices[${index}].${fault}` };
  }
  return { devices: result.devices.map(deviceOf) };
}

function deviceFault({ poolName, deviceName, requestNames, cdiDeviceIds }: Device): string | undefined {
  const nameFaults = [nameFault('pool_name', poolName), nameFault('device_name', deviceName)];
  const named = nameFaults.find((fault) => fault !== undefined);
  if (named !== undefined) return named;
  if (requestNames.length > limits.requests) return `request_names: at most ${limits.requests} are allowed`;
  if (cdiDeviceIds.length > limits.cdiDeviceIds)
    return `cdi_device_ids: at most ${limits.cdiDeviceIds} are allowed`;
  for (const [index, id] of cdiDeviceIds.entries()) {
    const fault = findCdiFault(id);
    if (fault !== undefined)
      return `cdi_device_ids[${index}]: ${JSON.stringify(id.slice(0, limits.nameLength))}: ${fault}`;
  }
  return requestNames.map((name) => nameFault('request_names', name)).find((fault) => fault !== undefined);
}

function nameFault(field: string, name: string): string | undefined {
  if (name === '') return `${field}: must not be empty`;
  return name.length > limits.nameLength
    ? `${field}: must be no more than ${limits.nameLength} characters`
    : undefined;
}

function deviceOf({ requestNames, poolName, deviceName, cdiDeviceIds, shareId }: Device): PreparedDevice {
  return { requests: requestNames, pool: poolName, device: deviceName, cdiDeviceIds, shareId };
}

function cut(text: string): string {
  return text.length > limits.errorLength ? `${text.slice(0, limits.errorLength)}…` : text;
}
