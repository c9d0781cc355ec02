import type { LiveConfig } from './config/index.ts';
import { originTable } from './config/index.ts';

/**
 * What `/configz` answers: the configuration that counts now, in the form of the reference, as `nodeward config view`
 * shows it; with `?origin=true` also whence each value comes; and what needs a restart, where there is something.
 */
export function configz({ loaded, pending }: LiveConfig, query: URLSearchParams): unknown {
  return {
    kubeletconfig: loaded.shown,
    ...(query.get('origin') === 'true' ? { origins: originTable(loaded.provenance) } : {}),
    ...(pending.length === 0 ? {} : { pendingRestart: pending }),
  };
}
