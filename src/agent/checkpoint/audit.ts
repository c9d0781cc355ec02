import type { Logger } from '../../base/index.ts';
import type { MadeCheckpoint } from './dump/dump.ts';
import type { Target } from './errors.ts';
import { CheckpointError } from './errors.ts';
import type { CheckpointMetrics } from './metrics.ts';
import type { CheckpointRecord } from './record.ts';

/** Logs one audit line for each request, with requester, target and outcome, and counts the outcome in the metrics. */
export function audit(
  { log, metrics }: { log: Logger; metrics: CheckpointMetrics },
  request: Target & { readonly requester: string },
  outcome: readonly MadeCheckpoint[] | CheckpointError,
): void {
  const { namespace, pod, container, requester } = request;
  const asked = {
    audit: 'checkpoint',
    namespace,
    pod,
    ...(container === '' ? {} : { container }),
    requester,
  };
  if (outcome instanceof CheckpointError) {
    metrics.failed(outcome.reason);
    log.warn({ ...asked, result: outcome.reason }, outcome.message);
    return;
  }
  metrics.made(outcome.map(({ record }) => record));
  const [made] = outcome.map(({ path, record }) => composeFacts(path, record));
  const set = outcome[0]?.record.set;
  const facts =
    set === undefined
      ? made
      : { set, checkpoints: outcome.map(({ id }) => id), ...computeMaxPauses(outcome) };
  log.info({ ...asked, result: 'made', ...facts }, 'checkpoint made');
}

function composeFacts(path: string, record: CheckpointRecord) {
  const { id, containerId, sizeBytes, durationMs, pausedMs, sha256 } = record;
  return { id, containerId, path, bytes: sizeBytes, sha256, durationMs, pausedMs };
}

/** For a set: the maxima over its containers. */
function computeMaxPauses(checkpoints: readonly MadeCheckpoint[]) {
  const max = (of: 'durationMs' | 'pausedMs') => Math.max(...checkpoints.map(({ record }) => record[of]));
  return { durationMs: max('durationMs'), pausedMs: max('pausedMs') };
}
