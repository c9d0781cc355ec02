import type { Clock, Logger, MetricsRegistry } from '../../../base/index.ts';
import type { AgentRoute } from '../../server/index.ts';
import { ArchivesInUse } from '../archives-in-use.ts';
import type { RetentionSettings } from '../retention/index.ts';
import { Keeper } from '../retention/index.ts';
import type { Checkpointer } from '../types.ts';
import { createDownloads } from './download.ts';
import { createManageMetrics } from './metrics.ts';
import { createOperationRoutes } from './operation-routes.ts';
import { Operations } from './operations.ts';
import { createManageRoutes } from './routes.ts';
import { createVerifier } from './verify.ts';

export interface ManagerOptions {
  checkpointer: Pick<Checkpointer, 'archives' | 'checkpoint' | 'onMade'> &
    Partial<Pick<Checkpointer, 'isUnannounced'>>;
  /** The limits that are in effect now. */
  retention(): RetentionSettings;
  metrics?: MetricsRegistry;
  clock: Clock;
  log: Logger;
}

/** Management of checkpoints after they are made, and asynchronous checkpoints. */
export interface CheckpointManager {
  readonly routes: readonly AgentRoute[];
  readonly operations: Operations;
  /** Enforces the limits of retention until `signal` aborts. One process at a time may run it on a folder. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

export function createCheckpointManager(options: ManagerOptions): CheckpointManager {
  const { checkpointer, clock, log } = options;
  const { archives } = checkpointer;
  const uses = new ArchivesInUse();
  const { removed, verified } = createManageMetrics(archives, options.metrics);
  const isNew = (id: string) => checkpointer.isUnannounced?.(id) ?? false;
  const keeper = new Keeper({ archives, uses, isNew, settings: options.retention, removed, clock, log });
  const operations = new Operations({ checkpointer, clock });
  const downloads = createDownloads(archives, uses);
  const verifier = createVerifier(archives, uses, clock);
  return {
    operations,
    routes: [
      ...createOperationRoutes(operations, log),
      ...createManageRoutes({ archives, keeper, downloads, verifier, verified, log }),
    ],
    async run(signal) {
      using _made = checkpointer.onMade(({ id }) => keeper.made(id));
      await keeper.run(signal);
    },
  };
}
