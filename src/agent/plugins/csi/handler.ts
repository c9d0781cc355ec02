import type { Clock, Logger, MetricsRegistry } from '../../../base/index.ts';
import type { PluginDetails, PluginHandler, PluginInfo } from '../index.ts';
import { checkDriverName } from './check.ts';
import { DriverTable } from './driver-table.ts';
import { registerCsiMetrics } from './metrics.ts';
import type { NodeInfoOptions } from './node-info.ts';
import { fetchNodeInfo } from './node-info.ts';
import type { CsiPublisher } from './publisher.ts';
import type { CsiDriver, CsiDrivers, Publication } from './types.ts';
import { chooseVersion, compareVersions } from './versions.ts';

export interface CsiHandlerOptions {
  /** Publishes the drivers in the API; undefined when there is no control plane. */
  readonly publisher: CsiPublisher | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: MetricsRegistry;
  /** Replaceable for tests. */
  readonly nodeInfo?: Pick<NodeInfoOptions, 'withinMs' | 'callMs' | 'random'>;
}

/** How long a registration waits for the API; while that is away the driver is in use all the same and published later. */
const publishWaitMs = 10_000;

/**
 * Handles plugins of type CSIPlugin (as the reference): CSI 1.x only; one driver of a name, which only a higher version
 * replaces. The node information of the driver is checked, kept and published. A driver that the API refuses is refused.
 */
export class CsiHandler implements PluginHandler, CsiDrivers {
  readonly type = 'CSIPlugin';
  readonly #options: CsiHandlerOptions;
  readonly #table = new DriverTable();
  /** The progress of registrations that wait for the driver, by socket. */
  readonly #progress = new Map<string, string>();

  constructor(options: CsiHandlerOptions) {
    const { publisher, metrics } = options;
    this.#options = options;
    this.#table.onChange(() => publisher?.publish(this.#table.drivers()));
    if (metrics !== undefined)
      registerCsiMetrics(metrics, this.#table, (driver) => publisher?.publicationOf(driver).state ?? 'local');
  }

  validate(plugin: PluginInfo): void {
    this.#chooseVersion(plugin);
  }

  async register(plugin: PluginInfo, signal: AbortSignal): Promise<void> {
    const { clock, log, nodeInfo } = this.#options;
    const { name, endpoint, socket } = plugin;
    this.#progress.set(socket, 'asked for what it says of this node');
    try {
      const onFailure = (problem: string) => this.#progress.set(socket, `asked again: ${problem}`);
      const info = await fetchNodeInfo({ ...nodeInfo, endpoint, clock, onFailure }, signal);
      const version = this.#chooseVersion(plugin); // another driver of this name may have been faster
      const driver = { name, endpoint, socket, version, ...info };
      this.#table.put(driver);
      try {
        await this.#waitForPublication(driver, signal);
      } catch (error) {
        this.#table.remove(socket);
        throw error;
      }
      log.debug({ driver: name, nodeId: info.nodeId, version }, 'CSI driver in use');
    } finally {
      this.#progress.delete(socket);
    }
  }

  deregister({ socket }: PluginInfo): void {
    this.#table.remove(socket);
  }

  details({ socket }: PluginInfo): PluginDetails | undefined {
    const driver = this.#table.at(socket);
    if (driver !== undefined) {
      const isInUse = this.#table.driver(driver.name) === driver;
      return toDetails(driver, isInUse, this.#options.publisher?.publicationOf(driver));
    }
    const progress = this.#progress.get(socket);
    return progress === undefined ? undefined : { nodeInfo: progress };
  }

  driver(name: string): CsiDriver | undefined {
    return this.#table.driver(name);
  }

  drivers(): readonly CsiDriver[] {
    return this.#table.drivers();
  }

  onChange(listener: () => void): Disposable {
    return this.#table.onChange(listener);
  }

  /** Throws an Error when the name, all its versions, or another driver of that name stand against it. */
  #chooseVersion({ name, versions, socket }: PluginInfo): string {
    checkDriverName(name);
    const version = chooseVersion(versions);
    const other = this.#table.driver(name);
    if (other === undefined || other.socket === socket || compareVersions(other.version, version) < 0)
      return version;
    throw new Error(
      `a CSI driver ${name} is registered already, with version ${other.version}, at ${other.socket}: another takes its place ` +
        'only with a higher version, or after that socket is gone',
    );
  }

  async #waitForPublication(driver: CsiDriver, signal: AbortSignal): Promise<void> {
    const { publisher } = this.#options;
    if (publisher === undefined || this.#table.driver(driver.name) !== driver) return;
    await publisher.waitForTry(driver, publishWaitMs, signal);
    signal.throwIfAborted();
    const { state, problem } = publisher.publicationOf(driver);
    if (state === 'refused')
      throw new Error(`the driver cannot be entered in the CSINode: ${problem ?? 'refused'}`);
  }
}

function toDetails(driver: CsiDriver, isInUse: boolean, publication: Publication | undefined): PluginDetails {
  const { version, nodeId, maxVolumes, topology } = driver;
  const labels = Object.entries(topology).map(([key, value]) => `${key}=${value}`);
  return {
    version,
    nodeID: nodeId,
    ...(maxVolumes === undefined ? {} : { maxVolumes }),
    ...(labels.length === 0 ? {} : { topology: labels.join(',') }),
    csiNode: isInUse ? (publication?.state ?? 'local') : 'another of this name is in use',
    ...(publication?.problem === undefined ? {} : { csiNodeProblem: publication.problem }),
  };
}
