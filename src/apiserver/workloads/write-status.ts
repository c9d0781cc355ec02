import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../api/index.ts';
import type { Resource } from '../registry/index.ts';
import { context, ifThere } from './pod-control.ts';

/** Writes the status of a workload unless it is so already. Does nothing when it is gone, or is another one by now. */
export async function writeStatus<T extends ApiObject & { status?: object }>(
  resource: Resource<T>,
  workload: T,
  status: NonNullable<T['status']>,
): Promise<void> {
  if (isDeepStrictEqual(workload.status ?? {}, status)) return;
  const { namespace = '', name = '', uid } = workload.metadata ?? {};
  const make = (now: T): T => (now.metadata?.uid === uid ? { ...now, status } : now);
  await ifThere(resource.change({ namespace, name }, { make, operation: 'Update' }, 'status', context));
}
