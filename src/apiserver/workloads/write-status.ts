import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../api/index.ts';
import { StatusError } from '../../api/index.ts';
import type { Resource } from '../registry/index.ts';
import { context } from './pod-control.ts';

/** Numbers of a status without those that are 0: an absent one is the same, and that is how they are stored. */
export function withoutZeros<S extends object>(status: S): S {
  const kept = { ...status };
  for (const [name, value] of Object.entries(status)) if (value === 0) Reflect.deleteProperty(kept, name);
  return kept;
}

/** Writes the status of a workload unless it is so already. Does nothing when it is gone, or is another one by now. */
export async function writeStatus<T extends ApiObject & { status?: object }>(
  resource: Resource<T>,
  workload: T,
  status: NonNullable<T['status']>,
): Promise<void> {
  if (isDeepStrictEqual(workload.status ?? {}, status)) return;
  const { namespace = '', name = '', uid } = workload.metadata ?? {};
  const make = (now: T): T => (now.metadata?.uid === uid ? { ...now, status } : now);
  try {
    await resource.change({ namespace, name }, { make, operation: 'Update' }, 'status', context);
  } catch (error) {
    if (!(error instanceof StatusError && error.reason === 'NotFound')) throw error;
  }
}
