import type { PluginHandler, PluginInfo } from '../index.ts';
import type { Candidate, DeviceManager } from './manager.ts';
import { RefusedPluginError } from './manager.ts';
import { deviceApiVersion } from './registration.ts';

/** Handles device plugins of the plugin registry: the plugin's name is that of its resource. */
export function createDevicePluginHandler(
  manager: Pick<DeviceManager, 'check' | 'register' | 'deregister'>,
): PluginHandler {
  return {
    type: 'DevicePlugin',
    validate(plugin) {
      if (!plugin.versions.includes(deviceApiVersion)) {
        const message = `the plugin speaks ${plugin.versions.join(', ')} of the device plugin interface, this agent ${deviceApiVersion} only`;
        throw new RefusedPluginError(message);
      }
      manager.check(toCandidate(plugin));
    },
    register: (plugin, signal) => manager.register(toCandidate(plugin), signal),
    deregister: (plugin) => manager.deregister(toCandidate(plugin)),
  };
}

function toCandidate({ name, endpoint, socket, madeMs }: PluginInfo): Candidate {
  return { resource: name, socket: endpoint, way: 'registry', key: socket, madeMs };
}
