import { join } from 'node:path';
import type { Service } from '../../base/index.ts';
import type { RegisteredIds } from '../plugins/allocation/index.ts';
import type { DeviceAmounts, DeviceInventory, DeviceUsers, KubeletPart } from '../plugins/devices/index.ts';
import {
  computeDeviceAmounts,
  createDevicePluginHandler,
  DeviceManager,
  deviceRoutes,
  kubeletPaths,
  registrationServer,
  rememberDevices,
  serveKubeletPaths,
} from '../plugins/devices/index.ts';
import type { PluginHandler } from '../plugins/index.ts';
import type { AgentRoute } from '../server/index.ts';
import type { AgentContext } from './context.ts';
import { part, restartedService } from './context.ts';

export interface DeviceParts {
  readonly inventory: DeviceInventory;
  /** Registers the devices that an earlier run knew. */
  remember(before: RegisteredIds): void;
  /** For the registry of plugins. */
  readonly handler: PluginHandler;
  /** The devices as resources in the node's status. */
  amounts(): DeviceAmounts;
  /** `GET /devices`; `users` has the container of each device. */
  routes(users?: DeviceUsers): readonly AgentRoute[];
  /** `atKubeletPaths`: what other parts serve at the reference's paths, where these are enabled. */
  services(atKubeletPaths?: readonly KubeletPart[]): readonly Service[];
}

/** Where the registration socket is, below the root folder (specification, section 2.6). */
const registrationSocket = 'device-plugins/nodeward.sock';

/** Assembles the device manager: plugins register with it, and their devices appear in the node's status. */
export function assembleDevices(context: AgentContext): DeviceParts {
  const { options, config, metrics, stack } = context;
  const { kubeletPaths: alsoKubelet, kubeletDir, graceMs } = config.deviceManager;
  const common = part(context, 'devices');
  const manager = stack.use(new DeviceManager({ graceMs: () => graceMs, metrics, ...common }));
  const { inventory } = manager;
  const problems = new Map<string, string>();
  const serve = (socket: string) =>
    registrationServer({
      manager,
      socket,
      onProblem(problem) {
        if (problem === undefined) problems.delete(socket);
        else problems.set(socket, problem);
      },
      ...common,
    });
  // after the allocations, so that the devices of earlier runs are known
  const run = serve(join(options.rootDir, registrationSocket));
  const registration = restartedService('devices', ['device-allocations'], run);

  function atPaths(others: readonly KubeletPart[]): Service[] {
    if (!alsoKubelet) return [];
    const paths = kubeletPaths(kubeletDir);
    const own: KubeletPart = { name: 'device-registration', run: serve(paths.registrationSocket) };
    const serving = serveKubeletPaths({ paths, parts: [own, ...others], ...common });
    return [restartedService('kubelet-paths', ['devices'], serving)];
  }

  return {
    inventory,
    remember: (before) => rememberDevices(inventory, before),
    handler: createDevicePluginHandler(manager),
    amounts: () => computeDeviceAmounts(inventory),
    routes: (users) => deviceRoutes({ manager, users, problems: () => [...problems.values()] }),
    services: (others = []) => [registration, ...atPaths(others)],
  };
}
