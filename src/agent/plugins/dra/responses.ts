import { findCdiFault } from '../devices/index.ts';
import type {
  Device,
  NodePrepareResourceResponse,
  NodePrepareResourcesResponse,
  NodeUnprepareResourcesResponse,
} from './gen/v1_pb.js';
import type { DraClaim, Prepared, PreparedDevice, Unprepared } from './types.ts';

/** The limits of a response; no claim can be given more. */
const limits = { devices: 256, requests: 256, cdiDeviceIds: 64, nameLength: 253, errorLength: 2048 } as const;

/** Returns a result for each claim; throws an Error for results of other claims: then the whole response cannot be trusted. */
export function readPrepared(
  claims: readonly DraClaim[],
  { claims: results }: NodePrepareResourcesResponse,
): Map<string, Prepared> {
  refuseUnknown(claims, Object.keys(results));
  return new Map(claims.map(({ uid }) => [uid, checkPrepared(findOwn(results, uid))]));
}

export function readUnprepared(
  claims: readonly DraClaim[],
  { claims: results }: NodeUnprepareResourcesResponse,
): Map<string, Unprepared> {
  refuseUnknown(claims, Object.keys(results));
  return new Map(
    claims.map(({ uid }) => {
      const result = findOwn(results, uid);
      return [uid, { error: result === undefined ? missingResult : shorten(result.error) || undefined }];
    }),
  );
}

const missingResult = 'the driver has left this claim out of its answer';

/** The keys come from the driver, so that inherited properties such as `constructor` must not be found. */
function findOwn<T>(results: Readonly<Record<string, T>>, uid: string): T | undefined {
  return Object.hasOwn(results, uid) ? results[uid] : undefined;
}

function refuseUnknown(claims: readonly DraClaim[], returned: readonly string[]): void {
  const requested = new Set(claims.map(({ uid }) => uid));
  const unknown = returned.find((uid) => !requested.has(uid));
  if (unknown === undefined) return;
  throw new Error(`it answers for a claim ${JSON.stringify(unknown.slice(0, 64))} that was not asked for`);
}

function checkPrepared(result: NodePrepareResourceResponse | undefined): Prepared {
  if (result === undefined) return { error: missingResult };
  if (result.error !== '') return { error: shorten(result.error) };
  if (result.devices.length > limits.devices) {
    return {
      error: `the driver answers with ${result.devices.length} devices, at most ${limits.devices} are allowed`,
    };
  }
  for (const [index, device] of result.devices.entries()) {
    const fault = findDeviceFault(device);
    if (fault !== undefined)
      return { error: `the driver’s answer cannot be used: devices[${index}].${fault}` };
  }
  return { devices: result.devices.map(toDevice) };
}

function findDeviceFault({ poolName, deviceName, requestNames, cdiDeviceIds }: Device): string | undefined {
  const nameFaults = [findNameFault('pool_name', poolName), findNameFault('device_name', deviceName)];
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
  return requestNames
    .map((name) => findNameFault('request_names', name))
    .find((fault) => fault !== undefined);
}

function findNameFault(field: string, name: string): string | undefined {
  if (name === '') return `${field}: must not be empty`;
  return name.length > limits.nameLength
    ? `${field}: must be no more than ${limits.nameLength} characters`
    : undefined;
}

function toDevice({ requestNames, poolName, deviceName, cdiDeviceIds, shareId }: Device): PreparedDevice {
  return { requests: requestNames, pool: poolName, device: deviceName, cdiDeviceIds, shareId };
}

function shorten(text: string): string {
  return text.length > limits.errorLength ? `${text.slice(0, limits.errorLength)}…` : text;
}
