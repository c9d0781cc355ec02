import type { Cause } from '../kinds/index.ts';
import type { Type } from '../schema/index.ts';
import { isRecord } from '../schema/index.ts';

/** What is told of at most; a body of a million empty items needs no million causes. */
const causesLimit = 100;

/** A cause for every required field that is absent, by its path, the first hundred. Looked at after defaulting. */
export function missingFields(type: Type, value: unknown, path = ''): Cause[] {
  const causes: Cause[] = [];
  collect(type, value, path, causes);
  return causes;
}

function collect(type: Type, value: unknown, path: string, causes: Cause[]): void {
  if (value === undefined || causes.length >= causesLimit) return;
  if (type.t === 'ref') collect(type.resolve(), value, path, causes);
  else if (type.t === 'list' && Array.isArray(value) && holdsStructs(type.of)) {
    for (const [index, item] of value.entries()) collect(type.of, item, `${path}[${index}]`, causes);
  } else if (type.t === 'map' && isRecord(value) && holdsStructs(type.of)) {
    for (const [key, item] of Object.entries(value)) collect(type.of, item, `${path}[${key}]`, causes);
  } else if (type.t === 'struct' && isRecord(value)) {
    for (const [name, field] of Object.entries(type.fields)) {
      const at = path === '' ? name : `${path}.${name}`;
      if (value[name] !== undefined) collect(field.type, value[name], at, causes);
      else if (field.required && causes.length < causesLimit)
        causes.push({ reason: 'FieldValueRequired', field: at, message: 'Required value' });
    }
  }
}

function holdsStructs(type: Type): boolean {
  if (type.t === 'list' || type.t === 'map') return holdsStructs(type.of);
  return type.t === 'struct' || type.t === 'ref';
}
