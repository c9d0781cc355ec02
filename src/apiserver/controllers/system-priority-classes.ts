import { priorityClassKind, StatusError, systemPriorityClasses } from '../../api/index.ts';
import type { Logger } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { Registry } from '../registry/index.ts';

/** Makes sure that the system's priority classes exist. What cannot be written now is left for the next start. */
export async function ensureSystemPriorityClasses(registry: Registry, log: Logger): Promise<void> {
  const context = { user: controlPlaneUser, dryRun: false };
  for (const wanted of systemPriorityClasses) {
    try {
      await registry.of(priorityClassKind).create('', wanted, context);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      if (error.reason === 'AlreadyExists') continue;
      log.warn(`a priority class of the system could not be made: ${describeError(error)}`);
    }
  }
}
