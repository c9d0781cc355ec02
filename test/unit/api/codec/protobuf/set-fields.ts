import type { Field, Type } from '../../../../../src/api/schema/index.ts';
import { isAlwaysPresent, isRecord, isUnset } from '../../../../../src/api/schema/index.ts';

/*
 * The same value with only what is set, as every encoding reads it: without zeros that a writer in Go would have written
 * for an unset field, without empty lists and maps, which have no bytes at all, and without empty structs that are there
 * in any case. What a required field means that
 * has no bytes is filled in.
 *
 * A required text that is empty stays, as it does on the wire; `withoutEmptyTexts` drops it too, for a comparison with
 * JSON of the reference, which leaves some of them away.
 */

const zeros: Readonly<Record<string, unknown>> = {
  string: '',
  bytes: '',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
};

export function setFields(type: Type, value: unknown): unknown {
  return reduced(type, value, true);
}

export function withoutEmptyTexts(type: Type, value: unknown): unknown {
  return reduced(type, value, false);
}

function reduced(type: Type, value: unknown, keepsTexts: boolean): unknown {
  if (type.t === 'ref') return reduced(type.resolve(), value, keepsTexts);
  if (type.t === 'list')
    return Array.isArray(value) ? value.map((item) => reduced(type.of, item, keepsTexts)) : value;
  if (!isRecord(value)) return value;
  if (type.t === 'map') {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, reduced(type.of, item, keepsTexts)]),
    );
  }
  if (type.t !== 'struct') return value;
  const fields = Object.entries(type.fields).filter(([, { proto }]) => proto !== 0);
  return Object.fromEntries(
    fields.flatMap(([name, field]) => {
      const kept = setField(field, value[name], keepsTexts);
      return kept === undefined ? [] : [[name, kept]];
    }),
  );
}

function setField(field: Field, value: unknown, keepsTexts: boolean): unknown {
  const { type, required, pointer = false } = field;
  if (type.t === 'list' || type.t === 'map') {
    const isEmpty = value === undefined || Object.keys(value ?? {}).length === 0;
    if (!isEmpty) return reduced(type, value, keepsTexts);
    if (!required) return undefined;
    return type.t === 'list' ? [] : {};
  }
  if (isAlwaysPresent(field)) {
    const inner = reduced(type, value, keepsTexts);
    const known = type.t === 'ref' ? type.resolve() : type;
    return known.t === 'struct' && isUnset(known, inner) ? undefined : inner;
  }
  const zero = zeros[type.t];
  if (value === undefined) return required && typeof zero !== 'string' ? zero : undefined;
  const keepsZero = required ? keepsTexts || typeof zero !== 'string' : pointer;
  return value === zero && !keepsZero ? undefined : reduced(type, value, keepsTexts);
}
