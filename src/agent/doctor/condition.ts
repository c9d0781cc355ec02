import type { Finding as Condition } from '../node/index.ts';
import type { Row } from './types.ts';

const type = 'CheckpointUnavailable';

/**
 * The only finding that changes what the node can do for others, so the only one that the Node carries. As with the
 * reference's conditions other than Ready, True is trouble. Undefined while the runtime has not answered: then the last
 * known stays.
 */
export function checkpointCondition(rows: readonly Row[]): Condition | undefined {
  const row = rows.find(({ id }) => id === 'runtime-checkpoint');
  if (row === undefined || row.verdict === 'unknown') return undefined;
  if (row.verdict === 'ok')
    return {
      type,
      status: 'False',
      reason: 'RuntimeCheckpoints',
      message: 'running containers can be checkpointed',
    };
  const reason = row.verdict === 'not-applicable' ? 'FeatureGateOff' : 'RuntimeCannotCheckpoint';
  const advice = row.advice === undefined ? '' : `; ${row.advice}`;
  return { type, status: 'True', reason, message: `${row.found}${advice}`.slice(0, 1024) };
}
