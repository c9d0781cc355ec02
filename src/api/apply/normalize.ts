import type { Field, StructType, Type } from '../schema/index.ts';
import { isRecord, keepsZero, zeroItemOf, zeroOf } from '../schema/index.ts';
import { hasNoFields } from './json-values.ts';

/**
 * The value as decoding would leave it: without nulls, and without zeros and empty lists and maps where those mean the
 * same as absence. Returns the very same value where nothing changes.
 */
export function normalizeValue(type: Type, value: unknown): unknown {
  const known = type.t === 'ref' ? type.resolve() : type;
  if (known.t === 'struct') return isRecord(value) ? normalizeStruct(known, value) : value;
  if (known.t === 'list') return Array.isArray(value) ? normalizeItems(known.of, value) : value;
  if (known.t === 'map' && isRecord(value)) return normalizeMap(known.of, value);
  return value;
}

function normalizeStruct({ fields }: StructType, value: Readonly<Record<string, unknown>>): unknown {
  let same = true;
  const kept: [string, unknown][] = [];
  for (const [name, inner] of Object.entries(value)) {
    const field = fields[name];
    const result = field === undefined ? inner : normalizeValue(field.type, inner);
    if (result !== inner) same = false;
    if (field !== undefined && isEmptyOrZero(field, result)) same = false;
    else kept.push([name, result]);
  }
  return same ? value : Object.fromEntries(kept);
}

function isEmptyOrZero(field: Field, value: unknown): boolean {
  if (value === null || value === undefined) return true;
  const { t } = field.type;
  if (keepsZero(field) || t === 'struct' || t === 'ref') return false;
  if (Array.isArray(value)) return value.length === 0;
  if (t === 'list' || t === 'map') return hasNoFields(value);
  return value === zeroOf(t);
}

function normalizeItems(of: Type, items: readonly unknown[]): unknown {
  let same = true;
  const result = items.map((item) => {
    const kept = normalizeValue(of, item ?? zeroItemOf(of));
    if (kept !== item) same = false;
    return kept;
  });
  return same ? items : result;
}

function normalizeMap(of: Type, map: Readonly<Record<string, unknown>>): unknown {
  const normalizeMember = (value: unknown) => normalizeValue(of, value ?? zeroItemOf(of));
  for (const key in map) {
    if (normalizeMember(map[key]) === map[key]) continue;
    return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, normalizeMember(value)]));
  }
  return map;
}
