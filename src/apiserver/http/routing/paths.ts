import { groupName } from '../../../api/index.ts';

interface InGroup {
  readonly kind: { readonly group: string };
  readonly groupSuffix: string;
}

/** The group of a resource as in paths and rules; empty for the core group. */
export function apiGroupOf({ kind, groupSuffix }: InGroup): string {
  return groupName(kind.group, groupSuffix);
}
