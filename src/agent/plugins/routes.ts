import type { AgentRoute } from '../server/index.ts';
import { sendJson } from '../server/index.ts';
import type { PluginService } from './service.ts';
import type { PluginDetails, PluginSocket } from './types.ts';

/** The group and version of the response, which are this program's own. */
const apiVersion = 'plugins.nodeward.io/v1';

/** `GET /plugins`: every registration socket and the state of its registration (docs/plugins.md). */
export function pluginRoutes(plugins: Omit<PluginService, 'service'>): readonly AgentRoute[] {
  return [
    {
      path: '/plugins',
      subresource: 'plugins',
      methods: { GET: ({ reply }) => sendJson(reply, 200, toPluginList(plugins)) },
    },
  ];
}

/** A registration socket in the response. */
export interface PluginItem {
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

export interface PluginList {
  readonly apiVersion: typeof apiVersion;
  readonly kind: 'PluginSocketList';
  readonly folder: string;
  readonly watchedBy?: string;
  readonly problems: readonly string[];
  readonly items: readonly PluginItem[];
}

function toPluginList(plugins: Omit<PluginService, 'service'>): PluginList {
  const { folder, watchedBy } = plugins;
  return {
    apiVersion,
    kind: 'PluginSocketList',
    folder,
    ...(watchedBy === undefined ? {} : { watchedBy }),
    problems: plugins.problems(),
    items: plugins.sockets().map(toPluginItem),
  };
}

function toPluginItem({
  path,
  state,
  sinceMs,
  attempts,
  plugin,
  lastError,
  nextTryMs,
  details,
}: PluginSocket): PluginItem {
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
