import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../api/index.ts';
import type { Resource } from '../registry/index.ts';
import { context, ifThere } from './pod-control.ts';

/**
 * Writes the status of a workload unless it is so already. Does nothing when it is gone, or is another one by now. Where
 * `status` has no conditions, those that others have written stay.
 */
export async function writeStatus<T extends ApiObject & { status?: object & { conditions?: unknown } }>(
  resource: Resource<T>,
  workload: T,
  status: NonNullable<T['status']>,
): Promise<void> {
  if (isDeepStrictEqual(workload.status ?? {}, withConditions(status, workload))) return;
  const { namespace = '', name = '', uid } = workload.metadata ?? {};
  const make = (now: T): T =>
    now.metadata?.uid === uid ? { ...now, status: withConditions(status, now) } : now;
  await ifThere(resource.change({ namespace, name }, { make, operation: 'Update' }, 'status', context));
}

function withConditions<S extends { conditions?: unknown }>(status: S, { status: now }: { status?: S }): S {
  const { conditions } = now ?? {};
  return status.conditions !== undefined || conditions === undefined ? status : { ...status, conditions };
}
