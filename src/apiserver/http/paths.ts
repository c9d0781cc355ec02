import { groupName } from '../../api/index.ts';
import type { Resource } from '../registry/index.ts';

/** The group of a resource as it stands in paths and in rules; empty for the core group. */
export function apiGroupOf(resource: Resource): string {
  return groupName(resource.kind.group, resource.groupSuffix);
}
