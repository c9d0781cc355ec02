import type { GeneratorValue } from 'fast-check';
import fc from 'fast-check';
import type { Field, Type } from '../../../../../src/api/schema/index.ts';
import { isRecord } from '../../../../../src/api/schema/index.ts';

const zeros: Readonly<Record<string, unknown>> = {
  string: '',
  bytes: '',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
  time: null,
  microTime: null,
};

/** The same object with zeros in some of the fields that it does not set, as many clients write them. */
export function withZeros(type: Type, value: unknown, gen: GeneratorValue): unknown {
  if (type.t === 'ref') return withZeros(type.resolve(), value, gen);
  if (type.t === 'list' && Array.isArray(value)) return value.map((item) => withZeros(type.of, item, gen));
  if (!isRecord(value)) return value;
  if (type.t === 'map') {
    const entries = Object.entries(value).map(([key, inner]) => [key, withZeros(type.of, inner, gen)]);
    return Object.fromEntries(entries);
  }
  if (type.t !== 'struct') return value;
  const entries = Object.entries(type.fields).map(([name, field]) => [
    name,
    value[name] === undefined ? someZero(field, gen) : withZeros(field.type, value[name], gen),
  ]);
  return { ...value, ...Object.fromEntries(entries) };
}

/** Undefined where there is none, or the dice fell so. */
function someZero({ type, proto, pointer }: Field, gen: GeneratorValue): unknown {
  if (proto === 0 || pointer || gen(fc.integer, { min: 0, max: 2 }) === 0) return undefined;
  if (type.t === 'list') return [];
  return type.t === 'map' ? {} : zeros[type.t];
}
