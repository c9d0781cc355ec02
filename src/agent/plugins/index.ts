/**
 * The registry of node plugins: asks each socket in `plugins_registry` for its plugin's type, and passes the plugin to the
 * handler of that type.
 */
export { pluginRoutes } from './routes.ts';
export { createPluginService, type PluginService } from './service.ts';
export type { PluginDetails, PluginHandler, PluginInfo, PluginSocket } from './types.ts';
