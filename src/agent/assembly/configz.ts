import type { LiveConfig } from '../config/index.ts';
import { originTable } from '../config/index.ts';
import type { AgentRoute } from '../server/index.ts';
import { sendJson } from '../server/index.ts';

export function configzRoute(live: Pick<LiveConfig, 'loaded' | 'pending'>): AgentRoute {
  return {
    path: '/configz',
    subresource: 'configz',
    methods: { GET: ({ reply, query }) => sendJson(reply, 200, createConfigz(live, query)) },
  };
}

/**
 * Returns the body of `/configz`: the current configuration in the form of the reference, as printed by `nodeward config
 * view`; with `?origin=true` also the origin of each value; and the fields that wait for a restart, if any.
 */
function createConfigz(
  { loaded, pending }: Pick<LiveConfig, 'loaded' | 'pending'>,
  query: URLSearchParams,
): unknown {
  return {
    kubeletconfig: loaded.printable,
    ...(query.get('origin') === 'true' ? { origins: originTable(loaded.provenance) } : {}),
    ...(pending.length === 0 ? {} : { pendingRestart: pending }),
  };
}
