import { isDeepStrictEqual } from 'node:util';
import type { Field, Type } from '../../schema/index.ts';
import { isRecord } from '../../schema/index.ts';
import { billionths } from '../quantity.ts';

/*
 * Whether two objects say the same. Clients read an object and send it back with one change, and on the way leave out
 * what is empty, or write one quantity in another way, 1000m as 1; that is no change of theirs.
 */

/** What is told of at most. */
const differencesLimit = 10;

/** Paths below `path` at which two values of a type say different things; the first ten. */
export function differences(type: Type, left: unknown, right: unknown, path: string): string[] {
  const found: string[] = [];
  collect(type, left, right, path, found);
  return found;
}

export function saysTheSame(type: Type, left: unknown, right: unknown): boolean {
  const found: string[] = [];
  collect(type, left, right, '', found);
  return found.length === 0;
}

function collect(type: Type, left: unknown, right: unknown, path: string, found: string[]): void {
  if (left === right || found.length >= differencesLimit) return;
  if (type.t === 'ref') collect(type.resolve(), left, right, path, found);
  else if (type.t === 'struct' && isRecordOrAbsent(left) && isRecordOrAbsent(right)) {
    for (const [name, field] of Object.entries(type.fields)) {
      const [before, after] = [left?.[name], right?.[name]];
      if (isUnset(field, before) && isUnset(field, after)) continue;
      if (isPresenceChange(field, before, after)) found.push(`${path}.${name}`);
      else collect(field.type, before, after, `${path}.${name}`, found);
    }
  } else if (type.t === 'list' && Array.isArray(left) && Array.isArray(right)) {
    if (left.length !== right.length) found.push(path);
    else
      for (const [index, item] of left.entries())
        collect(type.of, item, right[index], `${path}[${index}]`, found);
  } else if (type.t === 'map' && isRecord(left) && isRecord(right)) {
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      collect(type.of, left[key], right[key], `${path}[${key}]`, found);
    }
  } else if (!isSameScalar(type, left, right)) found.push(path);
}

function isRecordOrAbsent(value: unknown): value is Record<string, unknown> | undefined {
  return value === undefined || isRecord(value);
}

function isSameScalar(type: Type, left: unknown, right: unknown): boolean {
  if (type.t === 'quantity' && typeof left === 'string' && typeof right === 'string')
    return billionths(left) === billionths(right);
  return isDeepStrictEqual(left, right);
}

/** A struct that is there says something by that alone; but not these, which are always there in the reference. */
const alwaysThere = ['ResourceRequirements', 'VolumeResourceRequirements', 'ContainerState'];

function isPresenceChange({ type }: Field, before: unknown, after: unknown): boolean {
  if ((before === undefined) === (after === undefined)) return false;
  return type.t === 'struct' && !alwaysThere.includes(type.name);
}

/** Absent, or what stands for absence. */
function isUnset({ type, pointer }: Field, value: unknown): boolean {
  if (value === undefined) return true;
  if (type.t === 'list') return Array.isArray(value) && value.length === 0;
  if (type.t === 'map') return isRecord(value) && Object.keys(value).length === 0;
  if (type.t === 'quantity') return typeof value === 'string' && billionths(value) === 0n;
  return !pointer && (value === '' || value === 0 || value === false);
}
