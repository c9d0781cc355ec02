import type { Pod } from '../../../api/index.ts';
import type { ContainerAllocation } from '../devices/index.ts';
import type { Hint } from './hints.ts';

/** How many devices of each resource, by its name. */
export type DeviceCounts = Readonly<Record<string, number>>;

/** A device that a container holds, with its NUMA nodes at the time of allocation. */
export interface HeldDevice {
  readonly id: string;
  readonly numaNodes: readonly number[];
}

/** A container's devices of one resource. Immutable. */
export interface Holding {
  readonly podUid: string;
  readonly containerName: string;
  readonly resourceName: string;
  readonly devices: readonly HeldDevice[];
  /** The plugin's settings for the container. */
  readonly response: ContainerAllocation;
}

/** All devices of a container, and the settings that it needs to use them. */
export interface ContainerDevices {
  /** Sorted by resource. */
  readonly holdings: readonly Holding[];
  /** The merged settings of all plugins; empty when the container holds no devices. */
  readonly options: ContainerAllocation;
}

/**
 * Allocates devices of plugins to the containers of pods. A device belongs to one pod at a time; within a pod, a device of an
 * init container that has run is passed on to the containers after it. An allocation is in the state file before it is
 * returned, and stays until the pod is gone, however often the plugin or this agent restarts.
 */
export interface DeviceAllocator {
  /**
   * Allocates devices to a container of `pod`, or returns those it holds. Counts of zero are ignored. Calls may be concurrent.
   * Rejects with an AllocationError, and then nothing new is held.
   */
  allocate(pod: Pod, containerName: string, counts: DeviceCounts): Promise<ContainerDevices>;
  /** Must be awaited before each start of a container: calls the plugins that asked for it. Rejects like allocate(). */
  beforeStart(podUid: string, containerName: string): Promise<void>;
  /** Returns the present devices of a container, without a call to a plugin. */
  held(podUid: string, containerName: string): ContainerDevices;
  /** Releases the devices of a pod, and cancels its calls under way. Never rejects. */
  release(podUid: string): Promise<void>;
  /**
   * Releases every pod that is not among these. A pod that was in no such list yet is spared for a minute after its
   * allocation, since the caller of allocate() may know it before the caller of reconcile() does.
   */
  reconcile(livingUids: ReadonlySet<string>): Promise<void>;
  /**
   * The NUMA nodes from which the devices for `counts` could come, by resource; undefined for a resource without NUMA
   * nodes.
   */
  hints(
    pod: Pod,
    containerName: string,
    counts: DeviceCounts,
  ): ReadonlyMap<string, readonly Hint[] | undefined>;
}
