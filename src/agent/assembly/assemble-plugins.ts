import type { KubeletPart } from '../plugins/devices/index.ts';
import { kubeletPaths } from '../plugins/devices/index.ts';
import type { PluginHandler, PluginService } from '../plugins/index.ts';
import { createPluginService } from '../plugins/index.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';

/** Assembles the registry of plugins. Plugins of a type without a handler are refused. */
export function assemblePlugins(context: AgentContext, handlers: readonly PluginHandler[]): PluginService {
  return createPluginService({
    rootDir: context.options.rootDir,
    handlers,
    dependsOn: ['lock'],
    metrics: context.metrics,
    ...part(context, 'plugins'),
  });
}

export interface KubeletPlugins {
  /** The agent's own registry and this one together, for the routes. */
  readonly joined: Omit<PluginService, 'service'>;
  /** What runs at the reference's paths. */
  readonly parts: readonly KubeletPart[];
}

/** Assembles a second registry of plugins on the reference's folder, where that is enabled, with the same handlers. */
export function assembleKubeletPlugins(
  context: AgentContext,
  handlers: readonly PluginHandler[],
  own: PluginService,
): KubeletPlugins {
  const { kubeletPaths: isWanted, kubeletDir } = context.config.deviceManager;
  if (!isWanted) return { joined: own, parts: [] };
  const rootDir = kubeletPaths(kubeletDir).pluginsDir;
  const other = createPluginService({
    rootDir,
    handlers,
    dependsOn: [],
    ...part(context, 'kubelet-plugins'),
  });
  return {
    joined: {
      folder: own.folder,
      get watchedBy() {
        return own.watchedBy;
      },
      sockets: () => [...own.sockets(), ...other.sockets()],
      problems: () => [...own.problems(), ...other.problems()],
    },
    parts: [{ name: 'kubelet-plugins', run: other.service.run }],
  };
}
