import { isRecord } from '../../base/index.ts';
import type { Field, StructType, Type } from './types.ts';

/*
 * A server in Go writes an empty list or map as null where its type has no `omitempty` (`"drivers": null`), and null for a
 * time that is not set. A type of a description has no nulls, so what a server answers is read through its description.
 */

/** Replaces nulls in a value that a parser has just returned. */
type Replacer = (value: unknown) => void;

const compiled = new WeakMap<StructType, Replacer>();
const keep: Replacer = () => undefined;

/**
 * Replaces, in place, the nulls of an object that a server has sent: a required list, map or struct becomes an empty one,
 * any other field is removed. Unknown fields stay as they are.
 */
export function replaceNulls(type: StructType, value: unknown): void {
  replacerOf(type)(value);
}

function replacerOf(type: Type): Replacer {
  if (type.t === 'struct') return compiled.get(type) ?? compileStruct(type);
  if (type.t === 'ref') return (value) => replacerOf(type.resolve())(value);
  if (type.t === 'list') return replaceInList(replacerOf(type.of));
  if (type.t === 'map') return replaceInMap(replacerOf(type.of));
  return keep;
}

function replaceInList(inner: Replacer): Replacer {
  if (inner === keep) return keep;
  return (value) => {
    if (Array.isArray(value)) for (const item of value) inner(item);
  };
}

function replaceInMap(inner: Replacer): Replacer {
  if (inner === keep) return keep;
  return (value) => {
    if (isRecord(value)) for (const name in value) inner(value[name]);
  };
}

interface FieldRule {
  readonly replace: Replacer;
  /** What stands for null; undefined where the field is removed. */
  readonly empty: (() => unknown) | undefined;
}

function compileStruct(type: StructType): Replacer {
  const fields = new Map<string, FieldRule>();
  // registered before its fields, which may refer back to it
  const replace: Replacer = (value) => {
    if (!isRecord(value)) return;
    for (const name in value) {
      const field = fields.get(name);
      if (field === undefined) continue;
      const inner = value[name];
      if (inner !== null) field.replace(inner);
      else if (field.empty === undefined) delete value[name];
      else value[name] = field.empty();
    }
  };
  compiled.set(type, replace);
  for (const [name, field] of Object.entries(type.fields))
    fields.set(name, { replace: replacerOf(field.type), empty: emptyOf(field) });
  return replace;
}

function emptyOf({ required, type }: Field): (() => unknown) | undefined {
  if (!required) return undefined;
  if (type.t === 'list') return () => [];
  return type.t === 'map' || type.t === 'struct' || type.t === 'ref' ? () => ({}) : undefined;
}
