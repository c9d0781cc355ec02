import type { Pod } from '../../../api/index.ts';
import type { Clock, Logger, MetricsRegistry } from '../../../base/index.ts';
import { describeError, KeyedMutex } from '../../../base/index.ts';
import type { StateFile } from '../../../base/state-file/index.ts';
import type { DeviceInventory, DeviceResource } from '../devices/index.ts';
import { byId } from './device-choice.ts';
import { AllocationError } from './errors.ts';
import type { Hint } from './hints.ts';
import { mergeHints } from './hints.ts';
import { idsOf, Ledger } from './ledger.ts';
import { allocationMetrics } from './metrics.ts';
import type { DeviceRecord } from './record.ts';
import { RegisteredDevices } from './registered-devices.ts';
import { askedOf, asking, pluginOf, uidOf, unexpected } from './requests.ts';
import { mergeResponses, responseFault } from './response.ts';
import type { Selection } from './selection.ts';
import { choose, selectionFor } from './selection.ts';
import type { ContainerDevices, DeviceAllocator, DeviceCounts, Holding } from './types.ts';

export interface AllocatorOptions {
  inventory: DeviceInventory;
  state: Pick<StateFile<DeviceRecord>, 'write'>;
  clock: Clock;
  log: Logger;
  metrics?: MetricsRegistry | undefined;
}

/** How long a pod that only its allocation knows is spared by reconcile(), in milliseconds. */
const unseenGraceMs = 60_000;

interface Wanted {
  readonly pod: Pod;
  readonly podUid: string;
  readonly containerName: string;
  readonly cancel: AbortSignal;
}

/*
 * The way of an allocation. What belongs to one pod goes one after another, so does choosing among the devices of one
 * resource; plugins are asked to allocate at once.
 *
 *     held before? ─no─► choose and set apart ─► Allocate ─► into the ledger ─► state file ─► answer
 *                                 └──────────────── any failure gives it all back ──────┘
 */
export class Allocator implements DeviceAllocator, Disposable {
  readonly #options: AllocatorOptions;
  readonly #ledger = new Ledger();
  readonly #pods = new KeyedMutex();
  readonly #resources = new KeyedMutex();
  readonly #metrics;
  /** What is under way for each pod, by its uid; aborted when it is released. */
  readonly #flights = new Map<string, { end: AbortController; calls: number }>();
  /** Pods that nobody but their allocation has named yet, and since when. */
  readonly #unseen = new Map<string, number>();
  readonly #closing = new AbortController();
  readonly #restored = Promise.withResolvers<void>();
  readonly #registered: RegisteredDevices;

  constructor(options: AllocatorOptions) {
    this.#options = options;
    this.#metrics = allocationMetrics(() => this.#ledger.counts(), options.metrics);
    const write = () => void this.#write().catch(() => undefined); // told, and tried again
    this.#registered = new RegisteredDevices({ ...options, write });
  }

  /** Tells what was held before, as the state file says; without one it is made. Until then all calls wait, and nothing is written. */
  restore(record: DeviceRecord | undefined): void {
    for (const holding of record?.holdings ?? []) this.#ledger.put(holding);
    this.#restored.resolve();
    this.#registered.start(record?.registered);
  }

  /** All that is held now, by whomever. */
  all(): readonly Holding[] {
    return this.#ledger.all();
  }

  async allocate(pod: Pod, containerName: string, counts: DeviceCounts): Promise<ContainerDevices> {
    try {
      const podUid = uidOf(pod, containerName);
      const asked = askedOf(counts);
      return await this.#pods.run(podUid, () =>
        this.#during(podUid, (cancel) => this.#allocate({ pod, podUid, containerName, cancel }, asked)),
      );
    } catch (error) {
      const failure = error instanceof AllocationError ? error : unexpected(error);
      this.#metrics.ended(failure.reason);
      throw failure;
    }
  }

  async beforeStart(podUid: string, containerName: string): Promise<void> {
    await this.#during(podUid, async (cancel) => {
      for (const holding of this.#ledger.ofContainer(podUid, containerName)) {
        const resource = this.#options.inventory.resources().get(holding.resourceName);
        if (resource?.options.preStartRequired !== true) continue;
        const plugin = pluginOf(resource);
        const prepare = () => plugin.preStart(idsOf(holding), cancel);
        await asking(resource.name, 'prepares no start', cancel, prepare);
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
      this.#unseen.delete(podUid);
      this.#metrics.released();
      await this.#write().catch(() => undefined); // told, and tried again; what stands on disk says too much, not too little
    });
  }

  async reconcile(livingUids: ReadonlySet<string>): Promise<void> {
    await this.#restored.promise;
    const nowMs = this.#options.clock.monotonicMs();
    for (const uid of this.#unseen.keys()) if (livingUids.has(uid)) this.#unseen.delete(uid);
    const isSpared = (uid: string) => nowMs - (this.#unseen.get(uid) ?? -unseenGraceMs) < unseenGraceMs;
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
    const hints = askedOf(counts).map(([name, size]): [string, readonly Hint[] | undefined] => {
      const resource = this.#options.inventory.resources().get(name);
      return [name, resource === undefined ? [] : this.#select(pod, containerName, resource).hints(size)];
    });
    return new Map(hints);
  }

  /** Calls under way are given up, and so are their allocations. */
  [Symbol.dispose](): void {
    this.#closing.abort();
    this.#registered[Symbol.dispose]();
    this.#restored.resolve(); // who still waits is refused
  }

  async #allocate(wanted: Wanted, asked: readonly [string, number][]): Promise<ContainerDevices> {
    const { podUid, containerName } = wanted;
    const held = new Map(this.#ledger.ofContainer(podUid, containerName).map((h) => [h.resourceName, h]));
    const missing = asked.filter(([name, size]) => !this.#keeps(held.get(name), name, size));
    if (missing.length === 0) {
      this.#metrics.ended('kept');
      return this.held(podUid, containerName);
    }
    const numaNodes = mergeHints(this.hints(wanted.pod, containerName, Object.fromEntries(missing)).values());
    using reserved = new DisposableStack();
    const made: Holding[] = [];
    for (const [name, size] of missing) {
      made.push(await this.#ask(wanted, name, { size, numaNodes: numaNodes?.numaNodes ?? 0 }, reserved));
    }
    for (const holding of made) this.#refuseUnhealthy(holding);
    if (wanted.cancel.aborted) throw new AllocationError('released', 'the pod has gone meanwhile');
    await this.#commit(podUid, made);
    this.#metrics.ended('made');
    return this.held(podUid, containerName);
  }

  /** Whether the container has what it asks for already; throws when it has something else. */
  #keeps(holding: Holding | undefined, name: string, size: number): boolean {
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
    pluginOf(resource); // while it is away all devices are unhealthy, and that says nothing of them
    const ids = bad.map(({ id }) => id).join(', ');
    throw new AllocationError('unhealthy', `devices of ${resource.name} are no longer healthy: ${ids}`);
  }

  async #ask(
    wanted: Wanted,
    name: string,
    wish: { size: number; numaNodes: number },
    reserved: DisposableStack,
  ): Promise<Holding> {
    const { pod, podUid, containerName, cancel } = wanted;
    const onRemark = (remark: string) =>
      this.#options.log.warn({ resource: name }, `the plugin of ${name}: ${remark}`);
    const plugin = pluginOf(this.#resource(name));
    const devices = await this.#resources.run(name, async () => {
      const select = () => this.#select(pod, containerName, this.#resource(name));
      const chosen = await choose(select, { ...wish, onRemark }, cancel);
      const ids = chosen.map(({ id }) => id);
      reserved.use(this.#ledger.reserve(name, ids));
      return chosen.map(({ id, numaNodes }) => ({ id, numaNodes })).sort(byId);
    });
    const ids = devices.map(({ id }) => id);
    const response = await asking(name, 'does not allocate', cancel, () => plugin.allocate(ids, cancel));
    const fault = responseFault(response);
    if (fault !== undefined) {
      throw new AllocationError('answer', `the answer of the plugin of ${name} cannot be used: ${fault}`);
    }
    return { podUid, containerName, resourceName: name, devices, response };
  }

  /** On disk before it is answered; where that fails, nothing has happened. */
  async #commit(podUid: string, made: readonly Holding[]): Promise<void> {
    const isFirst = this.#ledger.ofPod(podUid).length === 0;
    for (const holding of made) this.#ledger.put(holding);
    if (isFirst) this.#unseen.set(podUid, this.#options.clock.monotonicMs());
    try {
      await this.#write();
    } catch (error) {
      for (const holding of made) this.#ledger.remove(holding);
      if (isFirst) this.#unseen.delete(podUid);
      this.#write().catch(() => undefined); // what is tried again is the state without them
      throw new AllocationError('unwritable', describeError(error), { cause: error });
    }
  }

  #write(): Promise<void> {
    const registered = this.#registered.take();
    return this.#options.state.write({ holdings: this.#ledger.all(), registered });
  }

  async #during<T>(podUid: string, work: (cancel: AbortSignal) => Promise<T>): Promise<T> {
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
    return selectionFor(this.#options.inventory, this.#ledger, { pod, containerName, resource });
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
