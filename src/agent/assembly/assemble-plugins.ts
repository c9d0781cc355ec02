import type { PluginHandler, PluginService } from '../plugins/index.ts';
import { createPluginService } from '../plugins/index.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';

/** The registry of plugins: `handlers` are those of all types that there are; a plugin of any other is refused. */
export function assemblePlugins(context: AgentContext, handlers: readonly PluginHandler[]): PluginService {
  return createPluginService({
    rootDir: context.options.rootDir,
    handlers,
    dependsOn: ['lock'],
    metrics: context.metrics,
    ...part(context, 'plugins'),
  });
}
