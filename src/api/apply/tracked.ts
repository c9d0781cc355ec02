import type { Field, Fields, StructType } from '../schema/index.ts';

/*
 * What of an object is owned at all. Its type, its identity and what only the server writes are nobody's.
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

/** The description of an object without the fields that nobody can own; always the same one. */
export function trackedPart(type: StructType): StructType {
  const made = known.get(type) ?? withoutUntracked(type);
  known.set(type, made);
  return made;
}

function withoutUntracked(type: StructType): StructType {
  const { metadata, ...fields } = without(type.fields, untracked);
  return { ...type, fields: metadata === undefined ? fields : { metadata: ofMetadata(metadata), ...fields } };
}

/** Metadata is always there, so nobody adds it. */
function ofMetadata(field: Field): Field {
  if (field.type.t !== 'struct') return field;
  const fields = without(field.type.fields, untrackedMetadata);
  return { ...field, default: {}, type: { ...field.type, fields } };
}

function without(fields: Fields, names: readonly string[]): Record<string, Field> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}
