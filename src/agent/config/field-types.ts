import { isIP } from 'node:net';
import { dirname, resolve } from 'node:path';
import { billionths } from '../../api/index.ts';
import type { Type } from '../../api/schema/index.ts';
import {
  isRecord,
  scalarRule,
  bool as schemaBool,
  duration as schemaDuration,
  int32 as schemaInt32,
  list as schemaList,
  map as schemaMap,
  string as schemaString,
} from '../../api/schema/index.ts';
import { durationMs } from '../../base/index.ts';
import type { Field, FieldDescription } from './field.ts';
import { defineField } from './field.ts';
import type { Located } from './located.ts';
import { toPlain } from './located.ts';

/** Node's timers hold 24.8 days; a longer wait would end at once. */
export const maxTimer = '576h';
/** The kernel's limit for the path of a socket, its ending NUL excluded. */
export const maxSocketPathBytes = 107;

/** A field of any type; `read` gets the plain value, or undefined. */
export function value<V>(
  schema: Type,
  read: (plain: unknown) => V,
  description: FieldDescription,
): Field<V, undefined> {
  return defineField(undefined, schema, (stated) => read(stated && toPlain(stated)), description);
}

export const text = (description: FieldDescription) => value(schemaString, textOf, description);

export const bool = (description: FieldDescription) =>
  value(schemaBool, (plain) => plain === true, { range: 'true or false', ...description });

/** The path of a file or folder; a relative one counts from the folder of the file that states it, as in the reference. */
export function path(description: FieldDescription): Field<string, undefined> {
  const read = (stated: Located | undefined) => {
    const name = textOf(stated && toPlain(stated));
    return name !== '' && stated?.at.kind === 'file' ? resolve(dirname(stated.at.file), name) : name;
  };
  return defineField(undefined, schemaString, read, { range: 'a path', ...description });
}

export function choice<const V extends string>(
  allowed: readonly V[],
  description: FieldDescription & { readonly default: V },
): Field<V, undefined> {
  const find = (plain: unknown) => allowed.find((each) => each === plain);
  return value(schemaString, (plain) => find(plain) ?? description.default, {
    range: allowed.map((each) => `\`${each}\``).join(', '),
    check: (plain) =>
      find(plain) === undefined ? `${quote(plain)} is not one of ${allowed.join(', ')}` : undefined,
    ...description,
  });
}

export function integer(min: number, max: number, description: FieldDescription): Field<number, undefined> {
  return value(schemaInt32, (plain) => Number(plain ?? 0), {
    range: `${min} to ${max}`,
    check: (plain) =>
      typeof plain === 'number' && plain >= min && plain <= max
        ? undefined
        : `must be from ${min} to ${max}, not ${String(plain)}`,
    ...description,
  });
}

/** In milliseconds, by a name that says so; `max` undefined: however long. */
export function duration<const Name extends `${string}Ms`>(
  settingName: Name,
  [min, max]: readonly [min: string, max?: string],
  description: FieldDescription,
): Field<number, Name> {
  const [minMs, maxMs] = [durationMs(min), max === undefined ? Number.POSITIVE_INFINITY : durationMs(max)];
  const read = (plain: unknown) => durationMs(String(plain ?? '0s'));
  const check = (plain: unknown) => {
    const bounds = max === undefined ? `${min} or longer` : `from ${min} to ${max}`;
    return read(plain) >= minMs && read(plain) <= maxMs
      ? undefined
      : `must be ${bounds}, not ${String(plain)}`;
  };
  const range = max === undefined ? `${min} or longer` : `${min} to ${max}`;
  return { ...value(schemaDuration, read, { range, check, ...description }), settingName };
}

/** A list, which layers replace as a whole. */
export function list<V>(
  of: Type,
  read: (items: readonly unknown[]) => V,
  description: FieldDescription,
): Field<V, undefined> {
  return value(schemaList(of), (plain) => read(listOf(plain)), description);
}

interface MapDescription<V> extends FieldDescription {
  /** The type of its values; default text. */
  readonly of?: Type;
  readEntries(entries: Readonly<Record<string, unknown>>): V;
}

/** A map, which layers merge by key. */
export function map<V, Name extends string | undefined>(
  settingName: Name,
  { of = schemaString, readEntries, ...description }: MapDescription<V>,
): Field<V, Name> {
  const field = value(schemaMap(of), (plain) => readEntries(recordOf(plain)), description);
  return { ...field, settingName };
}

/** For the keys of a map. */
export function keyAmong(allowed: readonly string[]): (key: string) => string | undefined {
  return (key) => (allowed.includes(key) ? undefined : `is not one of ${allowed.join(', ')}`);
}

export const ipAddress = {
  range: 'an IP address',
  check: (plain: unknown) => (isIP(String(plain)) === 0 ? `${quote(plain)} is not an IP address` : undefined),
};

/** A quantity as the API writes it; undefined where it is none. */
export function readQuantityText(value: unknown): string | undefined {
  const canonical = scalarRule('quantity').read(String(value));
  return typeof canonical === 'string' ? canonical : undefined;
}

/** A quantity as a number; undefined where it is none. */
export function readQuantity(value: unknown): number | undefined {
  const canonical = readQuantityText(value);
  return canonical === undefined ? undefined : Number(billionths(canonical)) / 1e9;
}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const recordOf = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {});

/** A value in a message, cut where it is long. */
export function quote(value: unknown): string {
  const json = JSON.stringify(value);
  return json.length > 120 ? `${json.slice(0, 119)}…` : json;
}
