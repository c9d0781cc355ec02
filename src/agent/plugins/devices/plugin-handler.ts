import type { PluginHandler, PluginInfo } from '../index.ts';
import type { Candidate, DeviceManager } from './manager.ts';
import { RefusedPluginError } from './manager.ts';
import { deviceApiVersion } from './registration.ts';

/** Device plugins that come by the plugin registry: their name is that of the resource. */
export function devicePluginHandler(
  manager: Pick<DeviceManager, 'check' | 'register' | 'deregister'>,
): PluginHandler {
  return {
    type: 'DevicePlugin',
    validate(plugin) {
      if (!plugin.versions.includes(deviceApiVersion)) {
        const message = `the plugin speaks ${plugin.versions.join(', ')} of the device plugin interface, this agent ${deviceApiVersion} only`;
        throw new RefusedPluginError(message);
      }
      manager.check(candidateOf(plugin));
    },
    register: (plugin, signal) => manager.register(candidateOf(plugin), signal),
    deregister: (plugin) => manager.deregister(candidateOf(plugin)),
  };
}

function candidateOf({ name, endpoint, socket, madeMs }: PluginInfo): Candidate {
  return { resource: name, socket: endpoint, way: 'registry', key: socket, madeMs };
}
