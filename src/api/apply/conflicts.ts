import { compareText } from './byte-order.ts';
import type { Entry } from './entries.ts';
import { writerOf } from './entries.ts';
import type { FieldSet } from './field-set.ts';
import { difference, intersection, rootOf, sortElementsDeep } from './field-set.ts';
import { formatPaths } from './format-paths.ts';
import { ApplyConflictError } from './types.ts';

/** Throws ApplyConflictError when `changed` has fields of other managers that are not in `exempt`. */
export function refuseConflicts(
  others: readonly Entry[],
  changed: FieldSet | undefined,
  findExempt: () => FieldSet | undefined,
) {
  const conflicting = findConflicting(others, changed);
  if (conflicting.length === 0) return;
  const exempt = findExempt();
  const left = conflicting.flatMap(({ entry, fields }) => {
    const rest = difference(fields, exempt);
    return rest === undefined ? [] : [{ ...writerOf(entry), fields: formatPaths(sortElementsDeep(rest)) }];
  });
  if (left.length > 0) throw new ApplyConflictError(left);
}

interface Conflicting {
  entry: Entry;
  fields: FieldSet;
}

function findConflicting(others: readonly Entry[], changed: FieldSet | undefined): Conflicting[] {
  const conflicting = others.flatMap((entry): Conflicting[] => {
    const fields = intersection(rootOf(entry.fieldsV1), changed);
    return fields === undefined ? [] : [{ entry, fields }];
  });
  return conflicting.sort((a, b) => compareText(identityOf(a), identityOf(b)));
}

/** The reference sorts by the JSON of a manager's identity. */
function identityOf({ entry }: Conflicting): string {
  const { manager, operation, apiVersion, subresource } = writerOf(entry);
  const version = operation === 'Update' ? { apiVersion } : {};
  return JSON.stringify({ manager, operation, ...version, ...(subresource === '' ? {} : { subresource }) });
}
