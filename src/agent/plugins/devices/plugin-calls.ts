import type { CallOptions, UnixClient } from '../../../base/grpc/index.ts';
import { GrpcError, grpcCodes } from '../../../base/grpc/index.ts';
import type { ContainerAllocateResponse } from './gen/device-plugin_pb.js';
import { DevicePlugin } from './gen/device-plugin_pb.js';
import { limits, times } from './limits.ts';
import type { ContainerAllocation, DevicePluginCalls } from './types.ts';

export type PluginCall = 'Allocate' | 'GetPreferredAllocation' | 'PreStartContainer';

/** Runs a call and records its duration and result. */
export type CallTimer = <T>(call: PluginCall, run: () => Promise<T>) => Promise<T>;

const toOptions = (deadlineMs: number, cancel: AbortSignal): CallOptions => ({ deadlineMs, cancel });

/** Creates the calls of the plugin behind `client`. */
export function createPluginCalls(client: UnixClient, time: CallTimer): DevicePluginCalls {
  const { allocate, getPreferredAllocation, preStartContainer } = DevicePlugin.method;
  return {
    allocate: (ids, cancel) =>
      time('Allocate', async () => {
        const request = { containerRequests: [{ devicesIds: [...ids] }] };
        const { containerResponses } = await client.unary(allocate, request, toOptions(times.callMs, cancel));
        return toAllocation(takeSingle('Allocate', containerResponses));
      }),
    preferred: ({ available, mustInclude, size }, cancel) =>
      time('GetPreferredAllocation', async () => {
        const request = {
          containerRequests: [
            {
              availableDeviceIDs: [...available],
              mustIncludeDeviceIDs: [...mustInclude],
              allocationSize: size,
            },
          ],
        };
        const answer = await client.unary(getPreferredAllocation, request, toOptions(times.callMs, cancel));
        const [first] = answer.containerResponses; // none: no preference, as in the reference
        return (first?.deviceIDs ?? []).slice(0, limits.devices);
      }),
    preStart: (ids, cancel) =>
      time('PreStartContainer', async () => {
        const request = { devicesIds: [...ids] };
        await client.unary(preStartContainer, request, toOptions(times.preStartMs, cancel));
      }),
  };
}

function takeSingle<T>(call: PluginCall, answers: readonly T[]): T {
  const [first] = answers;
  if (first !== undefined && answers.length === 1) return first;
  throw createFault(`${call} was for 1 container, the answer is for ${answers.length}`);
}

function toAllocation(response: ContainerAllocateResponse): ContainerAllocation {
  const { envs, mounts, devices, annotations, cdiDevices } = response;
  const parts = {
    envs: Object.keys(envs),
    mounts,
    devices,
    annotations: Object.keys(annotations),
    cdiDevices,
  };
  for (const [name, { length }] of Object.entries(parts)) {
    if (length > limits.allocationParts)
      throw createFault(`Allocate answers ${length} ${name}; at most ${limits.allocationParts} are taken`);
  }
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

function createFault(message: string): GrpcError {
  return new GrpcError(grpcCodes.INTERNAL, message);
}
