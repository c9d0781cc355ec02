import { podHasEnded } from '../../../api/index.ts';
import type { Clock, Logger, MetricsRegistry, Service } from '../../../base/index.ts';
import type { PodSource } from '../../pods/index.ts';
import type { DeviceInventory } from '../devices/index.ts';
import { Allocator } from './allocator.ts';
import { openDeviceState } from './device-state.ts';
import type { RegisteredIds } from './registered-devices.ts';
import type { DeviceAllocator } from './types.ts';

export interface DeviceAllocationsOptions {
  rootDir: string;
  inventory: DeviceInventory;
  /** Called at the start with the devices that an earlier agent knew. */
  remember(registered: RegisteredIds): void;
  pods: PodSource;
  /** Whether all pods are known: then a pod that is not among them is gone. */
  isComplete(): boolean;
  clock: Clock;
  log: Logger;
  metrics?: MetricsRegistry | undefined;
}

export interface DeviceAllocations {
  readonly allocator: DeviceAllocator;
  /** The user of each device as `namespace/pod/container`, or `uid/container` for an unknown pod, by resource and device. */
  users(): ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Runs the service: reads the state file, becomes ready, and then releases the devices of pods that are gone. */
  readonly run: Service['run'];
}

/** The minimum time between two passes: pods come and go in bursts. */
const spacingMs = 500;
/** The interval of passes without a change, for pods that were spared. */
const reconcileMs = 60_000;

/** Creates the allocator with its state file; it follows the pods of the node. */
export function createDeviceAllocations(options: DeviceAllocationsOptions): DeviceAllocations {
  const { pods, isComplete, clock, log } = options;
  const state = openDeviceState(options);
  const allocator = new Allocator({ ...options, state });

  async function followPods(signal: AbortSignal): Promise<void> {
    for (let wake = new AbortController(); !signal.aborted; wake = new AbortController()) {
      using _changes = pods.onChange(() => wake.abort());
      if (isComplete()) await allocator.reconcile(listLivingUids(pods));
      await clock.sleep(reconcileMs, AbortSignal.any([signal, wake.signal]));
      await clock.sleep(spacingMs, signal);
    }
  }

  return {
    allocator,
    users: () => listUsers(allocator, pods),
    async run(signal, ready) {
      const found = await state.read();
      const record = found.state === 'value' ? found.value : undefined;
      const count = record?.holdings.length ?? 0;
      if (count > 0) log.info({ count }, 'devices stay with the containers that had them');
      options.remember(record?.registered ?? {});
      allocator.restore(record);
      ready();
      await followPods(signal);
      allocator[Symbol.dispose]();
      await state[Symbol.asyncDispose]();
    },
  };
}

function listLivingUids(pods: PodSource): Set<string> {
  const living = pods.pods().filter((pod) => !podHasEnded(pod));
  return new Set(living.flatMap(({ metadata }) => metadata?.uid ?? []));
}

function listUsers(allocator: Allocator, pods: PodSource): Map<string, Map<string, string>> {
  const names = new Map(
    pods.pods().map(({ metadata }) => [metadata?.uid, `${metadata?.namespace}/${metadata?.name}`] as const),
  );
  const users = new Map<string, Map<string, string>>();
  for (const { podUid, containerName, resourceName, devices } of allocator.all()) {
    const ofResource = users.get(resourceName) ?? new Map<string, string>();
    users.set(resourceName, ofResource);
    for (const { id } of devices) ofResource.set(id, `${names.get(podUid) ?? podUid}/${containerName}`);
  }
  return users;
}
