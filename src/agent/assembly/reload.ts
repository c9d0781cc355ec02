import { describeError } from '../../base/index.ts';
import type { LiveConfig, Reloaded } from '../config/index.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';
import type { ServiceManager } from './service-manager.ts';

/**
 * Loads the configuration anew, whoever asks for it, and tells the log and the service manager how it went. Rejects, and
 * nothing has changed, when the configuration cannot be used.
 */
export function createReload(
  context: AgentContext,
  live: LiveConfig,
  manager: Pick<ServiceManager, 'reloading'>,
): () => Promise<Reloaded> {
  const { log } = part(context, 'config');
  return async () => {
    using _told = manager.reloading();
    try {
      const done = await live.reload();
      for (const warning of done.warnings) log.warn(warning);
      const { applied, pending } = done;
      log.info({ applied, pending }, summaryOf(done));
      return done;
    } catch (error) {
      log.error(`the configuration is kept as it was, the new one cannot be used: ${describeError(error)}`);
      throw error;
    }
  };
}

function summaryOf({ applied, pending }: Reloaded): string {
  const now = applied.length === 0 ? 'nothing else counts now' : `${applied.join(', ')} counts now`;
  const later = pending.length === 0 ? '' : `; ${pending.join(', ')} needs a restart of the agent`;
  return `configuration loaded again: ${now}${later}`;
}
