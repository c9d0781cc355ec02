import { closeObject, openObject, skipValue, takeByte, takeSeparator } from '../../../json/index.ts';
import { arrange, byNumber } from './arrange.ts';
import type { Conversion } from './conversion.ts';
import { writeVarint } from './conversion.ts';
import type { FieldCopier } from './fields.ts';
import { FieldTable } from './fields.ts';
import { withinOf } from './parts.ts';
import type { CopyValue } from './scalars.ts';

/** Copies the fields of an object, without a length. Objects that have the version take it from the conversion. */
export function structCopier(fields: readonly FieldCopier[], version?: FieldCopier): CopyValue {
  const table = new FieldTable(fields);
  const isNested = fields.some(({ order }) => withinOf(order) !== 0);
  return (conversion) => {
    const { parts } = conversion;
    const first = parts.count;
    const isDue = version !== undefined && conversion.isRevisionDue;
    conversion.isRevisionDue = false;
    const isSorted = copyFields(conversion, table, isDue ? version.order : never);
    if (!isSorted || isNested) arrange(conversion, first, byNumber);
    parts.count = first;
  };
}

const letterN = 0x6e;
/** Greater than the order of any field. */
const never = Number.MAX_SAFE_INTEGER;

/**
 * Copies the fields in the order of the JSON, and the version before the first of a greater order. Returns whether that is
 * the order of the message too.
 */
function copyFields(conversion: Conversion, table: FieldTable, versionOrder: number): boolean {
  const { json, parts } = conversion;
  let dueAt = versionOrder;
  let last = 0;
  let before: FieldCopier | undefined;
  let isSorted = true;
  takeByte(conversion, openObject);
  const isEmpty = json[conversion.at] === closeObject;
  if (isEmpty) conversion.at++;
  for (let isOpen = !isEmpty; isOpen; isOpen = takeSeparator(conversion)) {
    const field = table.take(conversion, before);
    if (field === undefined || json[conversion.at] === letterN) {
      skipValue(conversion);
      continue;
    }
    if (field.order > dueAt) {
      isSorted &&= dueAt > last;
      last = dueAt;
      copyVersion(conversion, dueAt);
      dueAt = never;
    }
    isSorted &&= field.order > last;
    last = field.order;
    before = field;
    parts.add(field.order, conversion.end);
    field.copy(conversion);
  }
  if (dueAt === never) return isSorted;
  copyVersion(conversion, dueAt);
  return isSorted && dueAt > last;
}

function copyVersion(conversion: Conversion, order: number): void {
  conversion.parts.add(order, conversion.end);
  const digits = String(conversion.revision);
  writeVarint(conversion, versionTag);
  writeVarint(conversion, digits.length);
  const { bytes, end } = conversion;
  for (let index = 0; index < digits.length; index++) bytes[end + index] = digits.charCodeAt(index);
  conversion.end = end + digits.length;
}

/** Of `resourceVersion`. */
const versionTag = (6 << 3) | 2;
