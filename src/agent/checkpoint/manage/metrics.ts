import type { MetricsRegistry } from '../../../base/index.ts';
import { Counter, createMetrics, Gauge } from '../../../base/index.ts';
import type { ArchiveFolder, StoredCheckpoint } from '../archive-folder.ts';
import type { Removal } from '../retention/index.ts';
import { resolveState } from './checkpoint-body.ts';

/** The metrics of the management of checkpoints. */
interface ManageMetrics {
  removed(removal: Removal): void;
  verified(result: 'matches' | 'damaged'): void;
}

/** Registers the metrics; without a registry nothing exports them. The folder is read at each scrape. */
export function createManageMetrics(
  archives: ArchiveFolder,
  registry: MetricsRegistry = createMetrics(),
): ManageMetrics {
  const registers = [registry];
  const removals = new Counter({
    name: 'nodeward_checkpoint_retention_removals_total',
    help: 'Checkpoints that were removed because of a limit, by its scope and what it limits.',
    labelNames: ['scope', 'limit'],
    registers,
  });
  const removedBytes = new Counter({
    name: 'nodeward_checkpoint_retention_removed_bytes_total',
    help: 'Bytes of the archives that were removed because of a limit.',
    registers,
  });
  const verifications = new Counter({
    name: 'nodeward_checkpoint_verifications_total',
    help: 'Archives that were read again, by what came of it.',
    labelNames: ['result'],
    registers,
  });
  const listed = shareList(archives);
  new Gauge({
    name: 'nodeward_checkpoint_archives_bytes',
    help: 'Bytes of the archives that there are.',
    registers,
    async collect() {
      this.set((await listed()).reduce((sum, { bytes }) => sum + bytes, 0));
    },
  });
  new Gauge({
    name: 'nodeward_checkpoint_archives_pinned',
    help: 'Checkpoints that are pinned.',
    registers,
    async collect() {
      this.set((await listed()).filter(({ record }) => record?.pinned).length);
    },
  });
  const states = ['Unverified', 'Matches', 'Damaged', 'Unknown'] as const;
  new Gauge({
    name: 'nodeward_checkpoint_archives',
    help: 'Checkpoints that there are, by what is known of their content.',
    labelNames: ['state'],
    registers,
    async collect() {
      const found = (await listed()).map(resolveState);
      for (const state of states) this.set({ state }, found.filter((each) => each === state).length);
    },
  });
  for (const result of ['matches', 'damaged']) verifications.inc({ result }, 0);
  return {
    removed({ scope, limit, bytes: freed }) {
      removals.inc({ scope, limit });
      removedBytes.inc(freed);
    },
    verified: (result) => verifications.inc({ result }),
  };
}

/** Calls while the folder is being read share its result, so that a scrape reads the folder once for all metrics. */
function shareList(archives: ArchiveFolder): () => Promise<StoredCheckpoint[]> {
  let reading: Promise<StoredCheckpoint[]> | undefined;
  return () => {
    reading ??= archives
      .list()
      .catch(() => [])
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
}
