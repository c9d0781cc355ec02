import { describeError } from '../../base/index.ts';
import type { LiveConfig, Reloaded } from '../config/index.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';
import type { ServiceManager } from './service-manager.ts';

/**
 * Returns a function that loads the configuration again, and reports the result to the log and the service manager. It
 * rejects, without any change, when the configuration cannot be used.
 */
export function createReload(
  context: AgentContext,
  live: LiveConfig,
  manager: Pick<ServiceManager, 'reloading'>,
): () => Promise<Reloaded> {
  const { log } = part(context, 'config');
  return async () => {
    using _notice = manager.reloading();
    try {
      const done = await live.reload();
      for (const warning of done.warnings) log.warn(warning);
      const { applied, pending } = done;
      log.info({ applied, pending }, formatSummary(done));
      return done;
    } catch (error) {
      log.error(`the configuration is kept as it was, the new one cannot be used: ${describeError(error)}`);
      throw error;
    }
  };
}

function formatSummary({ applied, pending }: Reloaded): string {
  const now =
    applied.length === 0
      ? 'nothing has changed that a reload applies'
      : `${applied.join(', ')} ${applied.length === 1 ? 'counts' : 'count'} now`;
  const later =
    pending.length === 0
      ? ''
      : `; ${pending.join(', ')} ${pending.length === 1 ? 'needs' : 'need'} a restart of the agent`;
  return `configuration loaded again: ${now}${later}`;
}
