import type { Clock, Logger, MetricsRegistry } from '../../../base/index.ts';
import type { AgentRoute } from '../../server/index.ts';
import type { RetentionSettings } from '../retention/index.ts';
import { createKeeper } from '../retention/index.ts';
import type { Checkpointer } from '../types.ts';
import { createUses } from '../uses.ts';
import { createDownloads } from './download.ts';
import { manageMetrics } from './metrics.ts';
import { operationRoutes } from './operation-routes.ts';
import type { Operations } from './operations.ts';
import { createOperations } from './operations.ts';
import { manageRoutes } from './routes.ts';
import { createVerifier } from './verify.ts';

export interface ManagerOptions {
  checkpointer: Pick<Checkpointer, 'archives' | 'checkpoint' | 'onMade'> &
    Partial<Pick<Checkpointer, 'isUnannounced'>>;
  /** What counts now. */
  retention(): RetentionSettings;
  metrics?: MetricsRegistry;
  clock: Clock;
  log: Logger;
}

/** What becomes of checkpoints once they are made, and of those that nobody waits for. */
export interface CheckpointManager {
  readonly routes: readonly AgentRoute[];
  readonly operations: Operations;
  /** Keeps to the limits of retention until `signal` aborts. For one process at a time on a folder. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

export function createCheckpointManager(options: ManagerOptions): CheckpointManager {
  const { checkpointer, clock, log } = options;
  const { archives } = checkpointer;
  const uses = createUses();
  const { removed, verified } = manageMetrics(archives, options.metrics);
  const isNew = (id: string) => checkpointer.isUnannounced?.(id) ?? false;
  const keeper = createKeeper({ archives, uses, isNew, settings: options.retention, removed, clock, log });
  const operations = createOperations({ checkpointer, clock });
  const downloads = createDownloads(archives, uses);
  const verifier = createVerifier(archives, uses, clock);
  return {
    operations,
    routes: [
      ...operationRoutes(operations, log),
      ...manageRoutes({ archives, keeper, downloads, verifier, verified, log }),
    ],
    async run(signal) {
      using _made = checkpointer.onMade(({ id }) => keeper.made(id));
      await keeper.run(signal);
    },
  };
}
