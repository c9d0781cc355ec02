import type { Field, StructType } from '../../schema/index.ts';

/** A field of a message: one of the description, or a message that does not appear in JSON, with its fields. */
export type LayoutEntry =
  | { readonly number: number; readonly name: string; readonly field: Field }
  | { readonly number: number; readonly inner: Layout };
export type Layout = readonly LayoutEntry[];

/**
 * The fields of a struct's message, ordered by number. Fields of number 0 (apiVersion, kind) are in the envelope, not in
 * the message.
 */
export function layoutOf(type: StructType): Layout {
  const placed = Object.entries(type.fields).flatMap(([name, field]): Placed[] =>
    field.proto === 0
      ? []
      : [{ path: [field.within ?? []].flat(), entry: { number: field.proto, name, field } }],
  );
  return nest(type, placed);
}

/** A field, and the numbers of the messages around it that JSON does not have, the outermost first. */
interface Placed {
  readonly path: readonly number[];
  readonly entry: LayoutEntry;
}

function nest(type: StructType, placed: readonly Placed[]): Layout {
  const own: LayoutEntry[] = [];
  const embedded = new Map<number, Placed[]>();
  for (const { path, entry } of placed) {
    const [outer, ...inner] = path;
    if (outer === undefined) own.push(entry);
    else embedded.set(outer, [...(embedded.get(outer) ?? []), { path: inner, entry }]);
  }
  const inner = [...embedded].map(([number, entries]) => ({ number, inner: nest(type, entries) }));
  return sortByNumber(type, [...own, ...inner]);
}

function sortByNumber(type: StructType, entries: readonly LayoutEntry[]): Layout {
  const sorted = [...entries].sort((one, other) => one.number - other.number);
  const twice = sorted.find(({ number }, index) => sorted[index + 1]?.number === number);
  if (twice !== undefined) throw new Error(`${type.name} has two fields of the number ${twice.number}`);
  return sorted;
}
