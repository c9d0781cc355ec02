import type { AgentRoute } from '../server/index.ts';
import { sendJson } from '../server/index.ts';
import type { PluginService } from './service.ts';
import { shownPlugins } from './socket-list.ts';

/** `GET /plugins`: every registration socket and how far it is (docs/plugins.md). */
export function pluginRoutes(plugins: Omit<PluginService, 'service'>): readonly AgentRoute[] {
  return [
    {
      path: '/plugins',
      subresource: 'plugins',
      methods: { GET: ({ reply }) => sendJson(reply, 200, shownPlugins(plugins)) },
    },
  ];
}
