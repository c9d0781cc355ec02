import type { KubeletPart } from '../plugins/devices/index.ts';
import { kubeletPaths } from '../plugins/devices/index.ts';
import type { PluginHandler, PluginService } from '../plugins/index.ts';
import { createPluginService } from '../plugins/index.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';

export interface KubeletPlugins {
  /** The agent's own registry and this one together, to be shown. */
  readonly shown: Omit<PluginService, 'service'>;
  /** What is run at the reference's paths. */
  readonly parts: readonly KubeletPart[];
}

/** A second registry of plugins on the reference's folder, where that is asked for; the handlers are the same. */
export function assembleKubeletPlugins(
  context: AgentContext,
  handlers: readonly PluginHandler[],
  own: PluginService,
): KubeletPlugins {
  const { kubeletPaths: isWanted, kubeletDir } = context.config.deviceManager;
  if (!isWanted) return { shown: own, parts: [] };
  const rootDir = kubeletPaths(kubeletDir).pluginsDir;
  const other = createPluginService({
    rootDir,
    handlers,
    dependsOn: [],
    ...part(context, 'kubelet-plugins'),
  });
  return {
    shown: {
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
