/** The registry of node plugins: whoever has a socket in `plugins_registry` is asked what it is and handed to its handler. */
export { pluginRoutes } from './routes.ts';
export { createPluginService, type PluginService, type PluginServiceOptions } from './service.ts';
export type {
  PluginDetails,
  PluginHandler,
  PluginInfo,
  PluginRegistry,
  PluginSocket,
  PluginState,
} from './types.ts';
