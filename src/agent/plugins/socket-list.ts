import type { PluginService } from './service.ts';
import type { PluginDetails, PluginSocket } from './types.ts';

/** The group and version of what is answered here; it is this program's own. */
const apiVersion = 'plugins.nodeward.io/v1';

/** A registration socket as it is answered. */
export interface ShownPlugin {
  readonly path: string;
  readonly state: string;
  readonly type?: string;
  readonly name?: string;
  readonly endpoint?: string;
  readonly versions?: readonly string[];
  /** RFC 3339, as `nextTry`. */
  readonly since: string;
  readonly attempts: number;
  readonly lastError?: string;
  readonly nextTry?: string;
  readonly details?: PluginDetails;
}

export interface ShownPlugins {
  readonly apiVersion: typeof apiVersion;
  readonly kind: 'PluginSocketList';
  readonly folder: string;
  readonly watchedBy?: string;
  readonly problems: readonly string[];
  readonly items: readonly ShownPlugin[];
}

export function shownPlugins(plugins: Omit<PluginService, 'service'>): ShownPlugins {
  const { folder, watchedBy } = plugins;
  return {
    apiVersion,
    kind: 'PluginSocketList',
    folder,
    ...(watchedBy === undefined ? {} : { watchedBy }),
    problems: plugins.problems(),
    items: plugins.sockets().map(shownPlugin),
  };
}

function shownPlugin({
  path,
  state,
  sinceMs,
  attempts,
  plugin,
  lastError,
  nextTryMs,
  details,
}: PluginSocket): ShownPlugin {
  const { type, name, endpoint, versions } = plugin ?? {};
  return {
    path,
    state,
    ...(type === undefined ? {} : { type }),
    ...(name === undefined ? {} : { name }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(versions === undefined ? {} : { versions }),
    since: new Date(sinceMs).toISOString(),
    attempts,
    ...(lastError === undefined ? {} : { lastError }),
    ...(nextTryMs === undefined ? {} : { nextTry: new Date(nextTryMs).toISOString() }),
    ...(details === undefined ? {} : { details }),
  };
}
