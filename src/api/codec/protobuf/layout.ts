import type { Field, StructType } from '../../schema/index.ts';

/** A field of a message: one of the description, or a message that JSON does not show and what stands in it. */
export type LayoutEntry =
  | { readonly number: number; readonly name: string; readonly field: Field }
  | { readonly number: number; readonly inner: Layout };
export type Layout = readonly LayoutEntry[];

/**
 * The message of a struct, in the order of the numbers. Fields of number 0 stand in the envelope, not in the message
 * (apiVersion, kind).
 */
export function layoutOf(type: StructType): Layout {
  const own: LayoutEntry[] = [];
  const embedded = new Map<number, LayoutEntry[]>();
  for (const [name, field] of Object.entries(type.fields)) {
    if (field.proto === 0) continue;
    const entry = { number: field.proto, name, field };
    if (field.within === undefined) own.push(entry);
    else embedded.set(field.within, [...(embedded.get(field.within) ?? []), entry]);
  }
  const inner = [...embedded].map(([number, entries]) => ({ number, inner: ordered(type, entries) }));
  return ordered(type, [...own, ...inner]);
}

function ordered(type: StructType, entries: readonly LayoutEntry[]): Layout {
  const sorted = [...entries].sort((one, other) => one.number - other.number);
  const twice = sorted.find(({ number }, index) => sorted[index + 1]?.number === number);
  if (twice !== undefined) throw new Error(`${type.name} has two fields of the number ${twice.number}`);
  return sorted;
}
