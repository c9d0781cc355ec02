import { isDeepStrictEqual } from 'node:util';
import type { Field, Type } from '../../schema/index.ts';
import { isRecord } from '../../schema/index.ts';
import { billionths } from '../quantity.ts';

/*
 * Compares two objects by meaning. Clients read an object and send it back with one change; on the way they leave out empty
 * fields, or write a quantity in another form, 1000m as 1. Those do not count as changes.
 */

/** How many differences are reported. */
const differencesLimit = 10;

/** The first ten paths below `path` at which two values of a type differ in meaning. */
export function findDifferences(type: Type, left: unknown, right: unknown, path: string): string[] {
  const found: string[] = [];
  collectDifferences(type, left, right, path, found);
  return found;
}

export function hasSameMeaning(type: Type, left: unknown, right: unknown): boolean {
  const found: string[] = [];
  collectDifferences(type, left, right, '', found);
  return found.length === 0;
}

function collectDifferences(type: Type, left: unknown, right: unknown, path: string, found: string[]): void {
  if (left === right || found.length >= differencesLimit) return;
  if (type.t === 'ref') collectDifferences(type.resolve(), left, right, path, found);
  else if (type.t === 'struct' && isRecordOrAbsent(left) && isRecordOrAbsent(right)) {
    for (const [name, field] of Object.entries(type.fields)) {
      const [before, after] = [left?.[name], right?.[name]];
      if (isUnset(field, before) && isUnset(field, after)) continue;
      if (isPresenceChange(field, before, after)) found.push(`${path}.${name}`);
      else collectDifferences(field.type, before, after, `${path}.${name}`, found);
    }
  } else if (type.t === 'list' && Array.isArray(left) && Array.isArray(right)) {
    if (left.length !== right.length) found.push(path);
    else
      for (const [index, item] of left.entries())
        collectDifferences(type.of, item, right[index], `${path}[${index}]`, found);
  } else if (type.t === 'map' && isRecord(left) && isRecord(right)) {
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      collectDifferences(type.of, left[key], right[key], `${path}[${key}]`, found);
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

/** A present struct has a meaning even when empty; but not these, which are always present in the reference. */
const alwaysThere = ['ResourceRequirements', 'VolumeResourceRequirements', 'ContainerState'];

function isPresenceChange({ type }: Field, before: unknown, after: unknown): boolean {
  if ((before === undefined) === (after === undefined)) return false;
  return type.t === 'struct' && !alwaysThere.includes(type.name);
}

/** Whether a value is absent or equals absence. */
function isUnset({ type, pointer }: Field, value: unknown): boolean {
  if (value === undefined) return true;
  if (type.t === 'list') return Array.isArray(value) && value.length === 0;
  if (type.t === 'map') return isRecord(value) && Object.keys(value).length === 0;
  if (type.t === 'quantity') return typeof value === 'string' && billionths(value) === 0n;
  return !pointer && (value === '' || value === 0 || value === false);
}
