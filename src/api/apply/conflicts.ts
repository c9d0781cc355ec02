import { compareText } from './byte-order.ts';
import type { Entry } from './entries.ts';
import { writerOf } from './entries.ts';
import type { FieldSet } from './field-set.ts';
import { difference, intersection, ordered, rootOf } from './field-set.ts';
import { pathsOf } from './path.ts';
import { ApplyConflictError } from './types.ts';

/** Refuses a change of fields of others, unless all of those fields are forgiven. */
export function refuseConflicts(
  others: readonly Entry[],
  changed: FieldSet | undefined,
  forgiven: () => FieldSet | undefined,
) {
  const met = conflictsWith(others, changed);
  if (met.length === 0) return;
  const allowed = forgiven();
  const left = met.flatMap(({ entry, fields }) => {
    const rest = difference(fields, allowed);
    return rest === undefined ? [] : [{ ...writerOf(entry), fields: pathsOf(ordered(rest)) }];
  });
  if (left.length > 0) throw new ApplyConflictError(left);
}

interface Met {
  entry: Entry;
  fields: FieldSet;
}

function conflictsWith(others: readonly Entry[], changed: FieldSet | undefined): Met[] {
  const met = others.flatMap((entry): Met[] => {
    const fields = intersection(rootOf(entry.fieldsV1), changed);
    return fields === undefined ? [] : [{ entry, fields }];
  });
  return met.sort((a, b) => compareText(identityOf(a), identityOf(b)));
}

/** The reference sorts by the JSON of a manager's identity. */
function identityOf({ entry }: Met): string {
  const { manager, operation, apiVersion, subresource } = writerOf(entry);
  const version = operation === 'Update' ? { apiVersion } : {};
  return JSON.stringify({ manager, operation, ...version, ...(subresource === '' ? {} : { subresource }) });
}
