import { join } from 'node:path';
import type { Service } from '../../base/index.ts';
import type { DeviceAllocator, RegisteredIds } from '../plugins/allocation/index.ts';
import { createDeviceAllocations } from '../plugins/allocation/index.ts';
import type { DeviceInventory, DeviceUsers, KubeletPart } from '../plugins/devices/index.ts';
import { kubeletPaths } from '../plugins/devices/index.ts';
import { podResourcesServer } from '../plugins/pod-resources/index.ts';
import type { PodAllocationsOptions } from '../plugins/resource-state/index.ts';
import { keepPodAllocations, keepPolicyStates } from '../plugins/resource-state/index.ts';
import type { PodSource } from '../pods/index.ts';
import type { AgentContext } from './context.ts';
import { part, restartedService } from './context.ts';

export interface ResourceSources {
  inventory: DeviceInventory;
  /** Called at the start with the devices that an earlier run knew. */
  remember(before: RegisteredIds): void;
  pods: PodSource;
  /** Whether all pods of the node are known; then a pod that is not listed no longer exists. */
  isComplete(): boolean;
}

export interface ResourceParts {
  /** Gives devices to the containers of pods. */
  readonly allocator: DeviceAllocator;
  /** The container of each device. */
  readonly users: DeviceUsers;
  /** What is served at the reference's paths, where these are enabled. */
  readonly atKubeletPaths: readonly KubeletPart[];
  readonly services: readonly Service[];
}

/** Where the pod resources service is, below the root folder (specification, section 2.6). */
const podResourcesSocket = 'pod-resources/nodeward.sock';

/** Assembles the allocation of devices to containers, its state files, and the pod resources service that reports it. */
export function assembleResources(context: AgentContext, sources: ResourceSources): ResourceParts {
  const { options, config, metrics } = context;
  const { rootDir } = options;
  const allocations = createDeviceAllocations({
    ...sources,
    rootDir,
    metrics,
    ...part(context, 'device-allocations'),
  });
  const serve = podResourcesServer({
    ...sources,
    allocations: allocations.allocator,
    metrics,
    ...part(context, 'pod-resources'),
  });
  const stateFiles = { rootDir, ...part(context, 'resource-state') };
  return {
    allocator: allocations.allocator,
    users: allocations.users,
    atKubeletPaths: [
      { name: 'pod-resources', run: serve(kubeletPaths(config.deviceManager.kubeletDir).podResourcesSocket) },
    ],
    services: [
      restartedService('device-allocations', ['lock'], allocations.run),
      restartedService('pod-resources', ['device-allocations'], serve(join(rootDir, podResourcesSocket))),
      restartedService('resource-state', ['lock'], (signal, ready) =>
        keepPolicyStates(stateFiles, ready, signal),
      ),
    ],
  };
}

/** Keeps the file of what pods were given, for as long as they are resized in place. */
export function podAllocations(
  context: AgentContext,
  sources: Pick<PodAllocationsOptions, 'pods' | 'isComplete' | 'given' | 'onGiven'>,
): Service {
  const { options, config } = context;
  const enabled = config.featureGates.InPlacePodVerticalScaling;
  const stateFile = { rootDir: options.rootDir, ...part(context, 'resource-state') };
  return restartedService('pod-allocations', ['lock'], (signal, ready) =>
    keepPodAllocations({ ...stateFile, ...sources, enabled }, ready, signal),
  );
}
