import type { Pod } from '../../../api/index.ts';
import type { Clock, Logger, MetricsRegistry } from '../../../base/index.ts';
import { describeError, KeyedMutex } from '../../../base/index.ts';
import type { StateFile } from '../../../base/state-file/index.ts';
import type { DeviceInventory, DeviceResource } from '../devices/index.ts';
import { byId } from './device-choice.ts';
import { AllocationError } from './errors.ts';
import type { Hint } from './hints.ts';
import { mergeHints } from './hints.ts';
import { Ledger, listIds } from './ledger.ts';
import { allocationMetrics } from './metrics.ts';
import type { DeviceRecord } from './record.ts';
import { RegisteredDevices } from './registered-devices.ts';
import { callPlugin, parseCounts, requirePlugin, requireUid, toAllocationError } from './requests.ts';
import { findResponseFault, mergeResponses } from './response.ts';
import type { Selection } from './selection.ts';
import { chooseDevices, createSelection } from './selection.ts';
import type { ContainerDevices, DeviceAllocator, DeviceCounts, Holding } from './types.ts';

export interface AllocatorOptions {
  inventory: DeviceInventory;
  state: Pick<StateFile<DeviceRecord>, 'write'>;
  clock: Clock;
  log: Logger;
  metrics?: MetricsRegistry | undefined;
}

/** How long reconcile() spares a pod that was not in its list since the allocation, in milliseconds. */
const unconfirmedGraceMs = 60_000;

interface Target {
  readonly pod: Pod;
  readonly podUid: string;
  readonly containerName: string;
  readonly cancel: AbortSignal;
}

/*
 * The steps of an allocation. The calls for one pod are sequential, and so is choosing among the devices of one resource;
 * Allocate calls to plugins are concurrent.
 *
 *     held already? ─no─► choose and reserve ─► Allocate ─► ledger ─► state file ─► return
 *                                 └────────────── any failure undoes it all ──┘
 */
export class Allocator implements DeviceAllocator, Disposable {
  readonly #options: AllocatorOptions;
  readonly #ledger = new Ledger();
  readonly #pods = new KeyedMutex();
  readonly #resources = new KeyedMutex();
  readonly #metrics;
  /** The calls under way for each pod, by its uid; aborted when the pod is released. */
  readonly #flights = new Map<string, { end: AbortController; calls: number }>();
  /** Pods that have an allocation and were in no list of reconcile() yet, and since when (monotonic). */
  readonly #unconfirmed = new Map<string, number>();
  readonly #closing = new AbortController();
  readonly #restored = Promise.withResolvers<void>();
  readonly #registered: RegisteredDevices;

  constructor(options: AllocatorOptions) {
    this.#options = options;
    this.#metrics = allocationMetrics(() => this.#ledger.counts(), options.metrics);
    const write = () => void this.#write().catch(() => undefined); // logged and tried again by the state file
    this.#registered = new RegisteredDevices({ ...options, write });
  }

  /**
   * Restores the holdings from the state file; without a record the file is created. Until then all calls wait, and nothing
   * is written.
   */
  restore(record: DeviceRecord | undefined): void {
    for (const holding of record?.holdings ?? []) this.#ledger.put(holding);
    this.#restored.resolve();
    this.#registered.start(record?.registered);
  }

  /** The present holdings of all containers. */
  all(): readonly Holding[] {
    return this.#ledger.all();
  }

  async allocate(pod: Pod, containerName: string, counts: DeviceCounts): Promise<ContainerDevices> {
    try {
      const podUid = requireUid(pod, containerName);
      const requested = parseCounts(counts);
      return await this.#pods.run(podUid, () =>
        this.#trackCall(podUid, (cancel) =>
          this.#allocate({ pod, podUid, containerName, cancel }, requested),
        ),
      );
    } catch (error) {
      const failure = error instanceof AllocationError ? error : toAllocationError(error);
      this.#metrics.ended(failure.reason);
      throw failure;
    }
  }

  async beforeStart(podUid: string, containerName: string): Promise<void> {
    await this.#trackCall(podUid, async (cancel) => {
      for (const holding of this.#ledger.ofContainer(podUid, containerName)) {
        const resource = this.#options.inventory.resources().get(holding.resourceName);
        if (resource?.options.preStartRequired !== true) continue;
        const plugin = requirePlugin(resource);
        const prepare = () => plugin.preStart(listIds(holding), cancel);
        await callPlugin(resource.name, 'prepares no start', cancel, prepare);
      }
    });
  }

  held(podUid: string, containerName: string): ContainerDevices {
    return toDevices(this.#ledger.ofContainer(podUid, containerName));
  }

  async release(podUid: string): Promise<void> {
    this.#flights.get(podUid)?.end.abort();
    this.#flights.delete(podUid);
    await this.#restored.promise;
    await this.#pods.run(podUid, async () => {
      const holdings = this.#ledger.ofPod(podUid);
      if (holdings.length === 0) return;
      for (const holding of holdings) this.#ledger.remove(holding);
      this.#unconfirmed.delete(podUid);
      this.#metrics.released();
      await this.#write().catch(() => undefined); // logged and tried again; until then the file has too many holdings, not too few
    });
  }

  async reconcile(livingUids: ReadonlySet<string>): Promise<void> {
    await this.#restored.promise;
    const nowMs = this.#options.clock.monotonicMs();
    for (const uid of this.#unconfirmed.keys()) if (livingUids.has(uid)) this.#unconfirmed.delete(uid);
    const isSpared = (uid: string) =>
      nowMs - (this.#unconfirmed.get(uid) ?? -unconfirmedGraceMs) < unconfirmedGraceMs;
    const gone = [...this.#ledger.pods()].filter((uid) => !livingUids.has(uid) && !isSpared(uid));
    if (gone.length === 0) return;
    this.#options.log.info({ pods: gone.length }, 'pods that are gone give up their devices');
    await Promise.all(gone.map((uid) => this.release(uid)));
  }

  hints(
    pod: Pod,
    containerName: string,
    counts: DeviceCounts,
  ): ReadonlyMap<string, readonly Hint[] | undefined> {
    const hints = parseCounts(counts).map(([name, size]): [string, readonly Hint[] | undefined] => {
      const resource = this.#options.inventory.resources().get(name);
      return [name, resource === undefined ? [] : this.#select(pod, containerName, resource).hints(size)];
    });
    return new Map(hints);
  }

  /** Cancels the calls under way, and their allocations. */
  [Symbol.dispose](): void {
    this.#closing.abort();
    this.#registered[Symbol.dispose]();
    this.#restored.resolve(); // waiting calls are refused
  }

  async #allocate(target: Target, requested: readonly [string, number][]): Promise<ContainerDevices> {
    const { podUid, containerName } = target;
    const held = new Map(this.#ledger.ofContainer(podUid, containerName).map((h) => [h.resourceName, h]));
    const missing = requested.filter(([name, size]) => !this.#isHeld(held.get(name), name, size));
    if (missing.length === 0) {
      this.#metrics.ended('kept');
      return this.held(podUid, containerName);
    }
    const numaNodes = mergeHints(this.hints(target.pod, containerName, Object.fromEntries(missing)).values());
    using reserved = new DisposableStack();
    const made: Holding[] = [];
    for (const [name, size] of missing) {
      made.push(
        await this.#allocateResource(target, name, { size, numaNodes: numaNodes?.numaNodes ?? 0 }, reserved),
      );
    }
    for (const holding of made) this.#refuseUnhealthy(holding);
    if (target.cancel.aborted) throw new AllocationError('released', 'the pod has gone meanwhile');
    await this.#commit(podUid, made);
    this.#metrics.ended('made');
    return this.held(podUid, containerName);
  }

  /** Whether the container holds the requested devices already; throws when it holds another number, or one is unhealthy. */
  #isHeld(holding: Holding | undefined, name: string, size: number): boolean {
    if (holding === undefined) return false;
    if (holding.devices.length !== size) {
      throw new AllocationError(
        'changed',
        `pod ${holding.podUid}, container ${holding.containerName} changed its request for ${name} from ${holding.devices.length} to ${size}`,
      );
    }
    this.#refuseUnhealthy(holding);
    return true;
  }

  #refuseUnhealthy(holding: Holding): void {
    const resource = this.#resource(holding.resourceName);
    const bad = holding.devices.filter(({ id }) => resource.devices.get(id)?.healthy !== true);
    if (bad.length === 0) return;
    requirePlugin(resource); // while it is away all devices are unhealthy, and their own health is not known
    const ids = bad.map(({ id }) => id).join(', ');
    throw new AllocationError('unhealthy', `devices of ${resource.name} are no longer healthy: ${ids}`);
  }

  async #allocateResource(
    target: Target,
    name: string,
    choice: { size: number; numaNodes: number },
    reserved: DisposableStack,
  ): Promise<Holding> {
    const { pod, podUid, containerName, cancel } = target;
    const onRemark = (remark: string) =>
      this.#options.log.warn({ resource: name }, `the plugin of ${name}: ${remark}`);
    const plugin = requirePlugin(this.#resource(name));
    const devices = await this.#resources.run(name, async () => {
      const select = () => this.#select(pod, containerName, this.#resource(name));
      const chosen = await chooseDevices(select, { ...choice, onRemark }, cancel);
      const ids = chosen.map(({ id }) => id);
      reserved.use(this.#ledger.reserve(name, ids));
      return chosen.map(({ id, numaNodes }) => ({ id, numaNodes })).sort(byId);
    });
    const ids = devices.map(({ id }) => id);
    const response = await callPlugin(name, 'does not allocate', cancel, () => plugin.allocate(ids, cancel));
    const fault = findResponseFault(response);
    if (fault !== undefined) {
      throw new AllocationError('answer', `the answer of the plugin of ${name} cannot be used: ${fault}`);
    }
    return { podUid, containerName, resourceName: name, devices, response };
  }

  /** Resolves when the state file is written; when that fails the holdings are removed again. */
  async #commit(podUid: string, made: readonly Holding[]): Promise<void> {
    const isFirst = this.#ledger.ofPod(podUid).length === 0;
    for (const holding of made) this.#ledger.put(holding);
    if (isFirst) this.#unconfirmed.set(podUid, this.#options.clock.monotonicMs());
    try {
      await this.#write();
    } catch (error) {
      for (const holding of made) this.#ledger.remove(holding);
      if (isFirst) this.#unconfirmed.delete(podUid);
      this.#write().catch(() => undefined); // the retries of the state file then write the state without them
      throw new AllocationError('unwritable', describeError(error), { cause: error });
    }
  }

  #write(): Promise<void> {
    const registered = this.#registered.take();
    return this.#options.state.write({ holdings: this.#ledger.all(), registered });
  }

  async #trackCall<T>(podUid: string, work: (cancel: AbortSignal) => Promise<T>): Promise<T> {
    await this.#restored.promise;
    const flight = this.#flights.get(podUid) ?? { end: new AbortController(), calls: 0 };
    this.#flights.set(podUid, flight);
    flight.calls += 1;
    try {
      return await work(AbortSignal.any([flight.end.signal, this.#closing.signal]));
    } finally {
      flight.calls -= 1;
      if (flight.calls === 0 && this.#flights.get(podUid) === flight) this.#flights.delete(podUid);
    }
  }

  #select(pod: Pod, containerName: string, resource: DeviceResource): Selection {
    return createSelection(this.#options.inventory, this.#ledger, { pod, containerName, resource });
  }

  #resource(name: string): DeviceResource {
    const resource = this.#options.inventory.resources().get(name);
    if (resource !== undefined) return resource;
    throw new AllocationError('unknown', `no device plugin has registered ${name}`);
  }
}

function toDevices(holdings: readonly Holding[]): ContainerDevices {
  return { holdings, options: mergeResponses(holdings.map(({ response }) => response)) };
}
