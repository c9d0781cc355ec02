import type { LiveConfig } from '../config/index.ts';
import { originTable } from '../config/index.ts';
import type { AgentRoute } from '../server/index.ts';
import { sendJson } from '../server/index.ts';

export function configzRoute(live: Pick<LiveConfig, 'loaded' | 'pending'>): AgentRoute {
  return {
    path: '/configz',
    subresource: 'configz',
    methods: { GET: ({ reply, query }) => sendJson(reply, 200, configz(live, query)) },
  };
}

/**
 * What `/configz` answers: the configuration that counts now, in the form of the reference, as `nodeward config view`
 * shows it; with `?origin=true` also whence each value comes; and what needs a restart, where there is something.
 */
function configz(
  { loaded, pending }: Pick<LiveConfig, 'loaded' | 'pending'>,
  query: URLSearchParams,
): unknown {
  return {
    kubeletconfig: loaded.printable,
    ...(query.get('origin') === 'true' ? { origins: originTable(loaded.provenance) } : {}),
    ...(pending.length === 0 ? {} : { pendingRestart: pending }),
  };
}
