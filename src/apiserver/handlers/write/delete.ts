import type { ListMeta, Status, StatusDetails } from '../../../api/index.ts';
import { groupName } from '../../../api/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { Answer, ApiRequest } from '../request.ts';
import { readDeletion } from './delete-options.ts';

/** DELETE of an object: 200 when it is gone, 202 while its deletion is still in progress (specification, 3.1 and 4.2). */
export async function remove(request: ApiRequest): Promise<Answer> {
  const { resource, namespace, name, user } = request;
  const { deletion, dryRun } = readDeletion(request);
  const { last, gone } = await resource.delete(namespace, name, deletion, { user, dryRun });
  const uid = last.metadata?.uid;
  return success(gone ? 200 : 202, detailsOf(resource, { name, ...(uid === undefined ? {} : { uid }) }));
}

/** The answer to a deletion: a Status. */
export function success(code: 200 | 202, details: StatusDetails, metadata: ListMeta = {}): Answer {
  const status: Status = { kind: 'Status', apiVersion: 'v1', metadata, status: 'Success', details, code };
  return { form: 'status', code, status, warnings: [] };
}

/** Describes what was deleted; as in the reference, `kind` is the resource. */
export function detailsOf({ kind, groupSuffix }: Resource, more: StatusDetails = {}): StatusDetails {
  const group = groupName(kind.group, groupSuffix);
  return { ...more, ...(group === '' ? {} : { group }), kind: kind.resource };
}
