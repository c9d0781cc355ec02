import type { CallOptions, UnixClient } from '../../../base/grpc/index.ts';
import { GrpcError, grpcCodes } from '../../../base/grpc/index.ts';
import type { ContainerAllocateResponse } from './gen/device-plugin_pb.js';
import { DevicePlugin } from './gen/device-plugin_pb.js';
import { limits, times } from './limits.ts';
import type { ContainerAllocation, DevicePluginCalls } from './types.ts';

export type PluginCall = 'Allocate' | 'GetPreferredAllocation' | 'PreStartContainer';

/** Runs a call and tells how long it took and how it ended. */
export type CallTimer = <T>(call: PluginCall, run: () => Promise<T>) => Promise<T>;

const within = (deadlineMs: number, cancel: AbortSignal): CallOptions => ({ deadlineMs, cancel });

/** The calls of the plugin that `client` leads to. */
export function pluginCalls(client: UnixClient, time: CallTimer): DevicePluginCalls {
  const { allocate, getPreferredAllocation, preStartContainer } = DevicePlugin.method;
  return {
    allocate: (ids, cancel) =>
      time('Allocate', async () => {
        const request = { containerRequests: [{ devicesIds: [...ids] }] };
        const { containerResponses } = await client.unary(allocate, request, within(times.callMs, cancel));
        return allocationOf(theOne('Allocate', containerResponses));
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
        const answer = await client.unary(getPreferredAllocation, request, within(times.callMs, cancel));
        const [first] = answer.containerResponses; // none: no preference, as the reference takes it
        return (first?.deviceIDs ?? []).slice(0, limits.devices);
      }),
    preStart: (ids, cancel) =>
      time('PreStartContainer', async () => {
        const request = { devicesIds: [...ids] };
        await client.unary(preStartContainer, request, within(times.preStartMs, cancel));
      }),
  };
}

function theOne<T>(call: PluginCall, answers: readonly T[]): T {
  const [first] = answers;
  if (first !== undefined && answers.length === 1) return first;
  throw unusable(`${call} was for 1 container, the answer is for ${answers.length}`);
}

function allocationOf(told: ContainerAllocateResponse): ContainerAllocation {
  const { envs, mounts, devices, annotations, cdiDevices } = told;
  const parts = {
    envs: Object.keys(envs),
    mounts,
    devices,
    annotations: Object.keys(annotations),
    cdiDevices,
  };
  for (const [name, { length }] of Object.entries(parts)) {
    if (length > limits.allocationParts)
      throw unusable(`Allocate answers ${length} ${name}; at most ${limits.allocationParts} are taken`);
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

function unusable(message: string): GrpcError {
  return new GrpcError(grpcCodes.INTERNAL, message);
}
