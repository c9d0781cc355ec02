import type { Field, Fields, StructType } from '../schema/index.ts';

/*
 * The fields of an object that managers can own: all but its type, its identity and what only the server writes.
 */

const untracked = ['apiVersion', 'kind'];
const untrackedMetadata = [
  'creationTimestamp',
  'generation',
  'managedFields',
  'name',
  'namespace',
  'resourceVersion',
  'selfLink',
  'uid',
];

const known = new WeakMap<StructType, StructType>();

/** The description of an object without the fields that no manager can own; the same object at each call. */
export function toTrackedType(type: StructType): StructType {
  const made = known.get(type) ?? withoutUntracked(type);
  known.set(type, made);
  return made;
}

function withoutUntracked(type: StructType): StructType {
  const { metadata, ...fields } = without(type.fields, untracked);
  return { ...type, fields: metadata === undefined ? fields : { metadata: ofMetadata(metadata), ...fields } };
}

/** Metadata is always present, so no manager adds it. */
function ofMetadata(field: Field): Field {
  if (field.type.t !== 'struct') return field;
  const fields = without(field.type.fields, untrackedMetadata);
  return { ...field, default: {}, type: { ...field.type, fields } };
}

function without(fields: Fields, names: readonly string[]): Record<string, Field> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}
