import type { Pod } from '../../../api/index.ts';
import type { ContainerAllocation } from '../devices/index.ts';
import type { Hint } from './hints.ts';

/** How many devices of each resource, by its name. */
export type DeviceCounts = Readonly<Record<string, number>>;

/** A device that a container holds, with the NUMA nodes that it was near to when it was given. */
export interface HeldDevice {
  readonly id: string;
  readonly numaNodes: readonly number[];
}

/** What a container holds of one resource. Never changed once it is made. */
export interface Holding {
  readonly podUid: string;
  readonly containerName: string;
  readonly resourceName: string;
  readonly devices: readonly HeldDevice[];
  /** What the plugin wants for the container. */
  readonly response: ContainerAllocation;
}

/** All devices of a container, and what it needs to use them. */
export interface ContainerDevices {
  /** Sorted by resource. */
  readonly holdings: readonly Holding[];
  /** Of all plugins together; empty where the container holds none. */
  readonly options: ContainerAllocation;
}

/**
 * Gives devices of plugins to the containers of pods. A device has one pod at a time; within a pod, a device of an init
 * container that has run goes on to the containers after it. What is given is in the state file before it is answered,
 * and stays given until the pod is gone, however often its plugin or this agent restarts.
 */
export interface DeviceAllocator {
  /**
   * Gives a container of `pod` its devices, or tells again those it has. Counts of zero are passed over. Calls may come
   * at once. Rejects with an AllocationError, and then nothing new is held.
   */
  allocate(pod: Pod, containerName: string, counts: DeviceCounts): Promise<ContainerDevices>;
  /** To be awaited before each start of a container: lets the plugins prepare that asked for it. Rejects like allocate. */
  beforeStart(podUid: string, containerName: string): Promise<void>;
  /** What a container holds now, without asking anybody. */
  held(podUid: string, containerName: string): ContainerDevices;
  /** Gives up what a pod holds, and what is under way for it. Never rejects. */
  release(podUid: string): Promise<void>;
  /**
   * Releases every pod that is not among these. A pod that has never been seen here is spared for a minute after its
   * allocation, since whoever allocates may know it before others do.
   */
  reconcile(livingUids: ReadonlySet<string>): Promise<void>;
  /** Where the devices for `counts` could come from, by resource; undefined for one without any NUMA node. */
  hints(
    pod: Pod,
    containerName: string,
    counts: DeviceCounts,
  ): ReadonlyMap<string, readonly Hint[] | undefined>;
}
