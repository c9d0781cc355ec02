import type { Logger } from '../../base/index.ts';
import type { MadeCheckpoint } from './dump/dump.ts';
import type { Target } from './errors.ts';
import { CheckpointError } from './errors.ts';
import type { CheckpointMetrics } from './metrics.ts';
import type { CheckpointRecord } from './record.ts';

/** The one line that tells for each request who has asked for what and what came of it; and the metrics of that. */
export function audit(
  { log, metrics }: { log: Logger; metrics: CheckpointMetrics },
  request: Target & { readonly requester: string },
  told: readonly MadeCheckpoint[] | CheckpointError,
): void {
  const { namespace, pod, container, requester } = request;
  const asked = {
    audit: 'checkpoint',
    namespace,
    pod,
    ...(container === '' ? {} : { container }),
    requester,
  };
  if (told instanceof CheckpointError) {
    metrics.failed(told.reason);
    log.warn({ ...asked, result: told.reason }, told.message);
    return;
  }
  metrics.made(told.map(({ record }) => record));
  const [made] = told.map(({ path, record }) => factsOf(path, record));
  const set = told[0]?.record.set;
  const facts = set === undefined ? made : { set, checkpoints: told.map(({ id }) => id), ...pausesOf(told) };
  log.info({ ...asked, result: 'made', ...facts }, 'checkpoint made');
}

function factsOf(path: string, record: CheckpointRecord) {
  const { id, containerId, sizeBytes, durationMs, pausedMs, sha256 } = record;
  return { id, containerId, path, bytes: sizeBytes, sha256, durationMs, pausedMs };
}

/** Of a set: the longest that one of its containers stood still. */
function pausesOf(checkpoints: readonly MadeCheckpoint[]) {
  const most = (of: 'durationMs' | 'pausedMs') => Math.max(...checkpoints.map(({ record }) => record[of]));
  return { durationMs: most('durationMs'), pausedMs: most('pausedMs') };
}
