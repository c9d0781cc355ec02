import type { Clock, Logger, MetricsRegistry } from '../../../base/index.ts';
import type { PluginDetails, PluginHandler, PluginInfo } from '../index.ts';
import { checkDriverName } from './check.ts';
import { createDriverTable } from './driver-table.ts';
import { countCsiDrivers } from './metrics.ts';
import type { NodeInfoOptions } from './node-info.ts';
import { askNodeInfo } from './node-info.ts';
import type { CsiPublisher } from './publisher.ts';
import type { CsiDriver, CsiDrivers, Publication } from './types.ts';
import { chooseVersion, compareVersions } from './versions.ts';

export interface CsiHandlerOptions {
  /** Who tells the cluster; undefined where there is no control plane. */
  readonly publisher: CsiPublisher | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: MetricsRegistry;
  /** Replaceable for tests. */
  readonly nodeInfo?: Pick<NodeInfoOptions, 'withinMs' | 'callMs' | 'random'>;
}

/** How long a registration waits for the API; where it is away, the driver is in use all the same and told of later. */
const publishWaitMs = 10_000;

/**
 * Handles plugins of type CSIPlugin (as the reference): CSI 1.x only; of a name one driver, or another with a higher version;
 * what the driver says of the node is checked, kept, and told to the cluster. A driver that the cluster refuses is refused.
 */
export function createCsiHandler(options: CsiHandlerOptions): PluginHandler & CsiDrivers {
  const { publisher, clock, log } = options;
  const table = createDriverTable();
  const asking = new Map<string, string>();
  table.onChange(() => publisher?.publish(table.drivers()));
  if (options.metrics !== undefined)
    countCsiDrivers(options.metrics, table, (driver) => publisher?.publicationOf(driver).state ?? 'local');

  function validate({ name, versions, socket }: PluginInfo): string {
    checkDriverName(name);
    const version = chooseVersion(versions);
    const other = table.driver(name);
    if (other === undefined || other.socket === socket || compareVersions(other.version, version) < 0)
      return version;
    throw new Error(
      `a CSI driver ${name} is registered already, with version ${other.version}, at ${other.socket}: another takes its place ` +
        'only with a higher version, or after that socket is gone',
    );
  }

  async function register(plugin: PluginInfo, signal: AbortSignal): Promise<void> {
    const { name, endpoint, socket } = plugin;
    asking.set(socket, 'asked for what it says of this node');
    try {
      const onFailure = (problem: string) => asking.set(socket, `asked again: ${problem}`);
      const info = await askNodeInfo({ ...options.nodeInfo, endpoint, clock, onFailure }, signal);
      const version = validate(plugin); // another of this name may have been faster
      const driver = { name, endpoint, socket, version, ...info };
      table.put(driver);
      try {
        await published(driver, signal);
      } catch (error) {
        table.remove(socket);
        throw error;
      }
      log.debug({ driver: name, nodeId: info.nodeId, version }, 'CSI driver in use');
    } finally {
      asking.delete(socket);
    }
  }

  async function published(driver: CsiDriver, signal: AbortSignal): Promise<void> {
    if (publisher === undefined || table.driver(driver.name) !== driver) return;
    await publisher.tried(driver, publishWaitMs, signal);
    signal.throwIfAborted();
    const { state, problem } = publisher.publicationOf(driver);
    if (state === 'refused') throw new Error(`the cluster cannot be told of it: ${problem ?? 'refused'}`);
  }

  return {
    type: 'CSIPlugin',
    validate: (plugin) => void validate(plugin),
    register,
    deregister: ({ socket }) => table.remove(socket),
    details({ socket }) {
      const driver = table.at(socket);
      if (driver !== undefined)
        return detailsOf(driver, table.driver(driver.name) === driver, publisher?.publicationOf(driver));
      const told = asking.get(socket);
      return told === undefined ? undefined : { nodeInfo: told };
    },
    driver: table.driver,
    drivers: table.drivers,
    onChange: table.onChange,
  };
}

function detailsOf(driver: CsiDriver, isInUse: boolean, publication: Publication | undefined): PluginDetails {
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
