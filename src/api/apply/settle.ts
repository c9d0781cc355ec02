import type { Field, StructType, Type } from '../schema/index.ts';
import { isRecord, keepsZero, zeroOf } from '../schema/index.ts';
import { hasNoFields } from './json.ts';

/**
 * The value as decoding would leave it: nulls, and zeros and empty lists and maps that mean nothing, are no values. The
 * very same value where nothing is to be done.
 */
export function settled(type: Type, value: unknown): unknown {
  const known = type.t === 'ref' ? type.resolve() : type;
  if (known.t === 'struct') return isRecord(value) ? settledStruct(known, value) : value;
  if (known.t === 'list') return Array.isArray(value) ? settledItems(known.of, value) : value;
  if (known.t === 'map' && isRecord(value)) return settledMap(known.of, value);
  return value;
}

function settledStruct({ fields }: StructType, value: Readonly<Record<string, unknown>>): unknown {
  let same = true;
  const kept: [string, unknown][] = [];
  for (const [name, inner] of Object.entries(value)) {
    const field = fields[name];
    const result = field === undefined ? inner : settled(field.type, inner);
    if (result !== inner) same = false;
    if (field !== undefined && saysNothing(field, result)) same = false;
    else kept.push([name, result]);
  }
  return same ? value : Object.fromEntries(kept);
}

function saysNothing(field: Field, value: unknown): boolean {
  if (value === null || value === undefined) return true;
  const { t } = field.type;
  if (keepsZero(field) || t === 'struct' || t === 'ref') return false;
  if (Array.isArray(value)) return value.length === 0;
  if (t === 'list' || t === 'map') return hasNoFields(value);
  return value === zeroOf(t);
}

function settledItems(of: Type, items: readonly unknown[]): unknown {
  let same = true;
  const result = items.map((item) => {
    const kept = settled(of, item === null && isStruct(of) ? {} : item);
    if (kept !== item) same = false;
    return kept;
  });
  return same ? items : result;
}

function settledMap(of: Type, map: Readonly<Record<string, unknown>>): unknown {
  const settledValue = (value: unknown) => settled(of, value === null ? emptyOf(of) : value);
  for (const key in map) {
    if (settledValue(map[key]) === map[key]) continue;
    return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, settledValue(value)]));
  }
  return map;
}

/** What Go makes of a null in a map. */
function emptyOf({ t }: Type): unknown {
  if (t === 'struct' || t === 'ref') return {};
  return t === 'string' || t === 'bytes' ? '' : null;
}

function isStruct({ t }: Type): boolean {
  return t === 'struct' || t === 'ref';
}
