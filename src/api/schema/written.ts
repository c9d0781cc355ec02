import { isRecord } from '../../base/index.ts';
import type { Field, StructType, Type } from './types.ts';
import { computeDropped, isAlwaysPresent, zeroOf } from './zeros.ts';

/*
 * A program in Go writes some fields in any case: each struct that is no pointer, and what its type does not say to omit.
 * Clients rely on them (`node.spec.taints` throws where there is no `spec`), so they are added to every object when it is
 * encoded, and stored with it: an answer stays the stored bytes. Inside the server an object is without those that are
 * null, zero or empty, as decoding leaves it, so that what is absent and what is not set are the same to everything that
 * compares objects.
 *
 * A description is compiled once into closures that look only where such a field can be. Both directions cost little beside
 * the JSON itself.
 */

type Change = (value: unknown) => unknown;

/** The object with all that is always written; the very same object where nothing is missing. It is not changed itself. */
export function withWritten<T>(type: StructType, object: T): T;
export function withWritten(type: StructType, object: unknown): unknown {
  return adderOf(type)?.(object) ?? object;
}

/**
 * Removes from an object what is written although it is null, zero or empty; a list or map that is required becomes
 * empty. The object is changed in place.
 */
export function removeWrittenZeros(type: StructType, object: unknown): void {
  removerOf(type)?.(object);
}

function isWritten(field: Field): boolean {
  return field.required || field.written === true || isAlwaysPresent(field);
}

function zeroFor({ type, pointer }: Field): unknown {
  if (pointer || type.t === 'bytes') return null;
  if (type.t === 'quantity') return '0';
  return type.t === 'list' || type.t === 'map' || type.t === 'ref' || type.t === 'struct'
    ? null
    : (zeroOf(type.t) ?? null);
}

interface AddedField {
  name: string;
  /** Whether the field is added where it is absent. */
  written: boolean;
  makeZero: () => unknown;
  inner: Change | undefined;
}

interface Adder {
  add: Change | undefined;
}

const adders = new WeakMap<StructType, Adder>();

/** Undefined where nothing can be missing. */
function adderOf(type: Type): Change | undefined {
  if (type.t === 'struct') return structAdder(type);
  if (type.t === 'ref') return (value) => structAdder(type.resolve())?.(value) ?? value;
  if (type.t === 'list') return listAdder(adderOf(type.of));
  return type.t === 'map' ? mapAdder(adderOf(type.of)) : undefined;
}

function structAdder(type: StructType): Change | undefined {
  const known = adders.get(type);
  if (known !== undefined) return known.add;
  const fields: AddedField[] = [];
  const add: Change = (value) => (isRecord(value) ? addFields(value, fields) : value);
  const adder: Adder = { add };
  adders.set(type, adder); // before its fields, which may lead back to it
  for (const [name, field] of Object.entries(type.fields)) {
    const inner = adderOf(field.type);
    if (isWritten(field) || inner !== undefined)
      fields.push({ name, written: isWritten(field), makeZero: () => zeroOfField(field), inner });
  }
  if (fields.length === 0) adder.add = undefined;
  return adder.add;
}

function addFields(value: Readonly<Record<string, unknown>>, fields: readonly AddedField[]): unknown {
  let whole: Record<string, unknown> | undefined;
  for (const field of fields) {
    const given = value[field.name];
    if (given === undefined ? !field.written : field.inner === undefined) continue;
    const next = given === undefined ? field.makeZero() : field.inner?.(given);
    if (next === given) continue;
    whole ??= { ...value };
    whole[field.name] = next;
  }
  return whole ?? value;
}

function listAdder(inner: Change | undefined): Change | undefined {
  if (inner === undefined) return undefined;
  return (value) => {
    if (!Array.isArray(value)) return value;
    let items: unknown[] | undefined;
    for (let index = 0; index < value.length; index++) {
      const next = inner(value[index]);
      if (next === value[index]) continue;
      items ??= [...value];
      items[index] = next;
    }
    return items ?? value;
  };
}

function mapAdder(inner: Change | undefined): Change | undefined {
  if (inner === undefined) return undefined;
  return (value) => {
    if (!isRecord(value)) return value;
    const entries = Object.entries(value);
    return entries.every(([, item]) => inner(item) === item)
      ? value
      : Object.fromEntries(entries.map(([key, item]) => [key, inner(item)]));
  };
}

/** What stands where a field is not set: a struct has what is required in it, too. */
function zeroOfField(field: Field): unknown {
  const type = field.type.t === 'ref' ? field.type.resolve() : field.type;
  const isThere = (field.required && !field.pointer) || isAlwaysPresent(field);
  if (type.t !== 'struct' || !isThere) return zeroFor(field);
  const written = Object.entries(type.fields).filter(([, inner]) => isWritten(inner));
  return Object.fromEntries(written.map(([name, inner]) => [name, zeroOfField(inner)]));
}

type Removal = (value: unknown) => void;

interface RemovedField {
  name: string;
  /** The value that is removed; undefined where there is none. */
  zero: unknown;
  /** Whether a struct is removed because nothing is left in it. */
  isUnset: ((value: unknown) => boolean) | undefined;
  /** What stands for null in a required list or map. */
  makeEmpty: (() => unknown) | undefined;
  inner: Removal | undefined;
}

interface Remover {
  remove: Removal | undefined;
}

const removers = new WeakMap<StructType, Remover>();

/** Undefined where there is nothing to remove. */
function removerOf(type: Type): Removal | undefined {
  if (type.t === 'struct') return structRemover(type);
  if (type.t === 'ref') return (value) => structRemover(type.resolve())?.(value);
  if (type.t !== 'list' && type.t !== 'map') return undefined;
  const inner = removerOf(type.of);
  if (inner === undefined) return undefined;
  return (value) => {
    if (Array.isArray(value)) for (const item of value) inner(item);
    else if (isRecord(value)) for (const key in value) inner(value[key]);
  };
}

function structRemover(type: StructType): Removal | undefined {
  const known = removers.get(type);
  if (known !== undefined) return known.remove;
  const fields: RemovedField[] = [];
  const remove: Removal = (value) => {
    if (isRecord(value)) removeFields(value, fields);
  };
  const remover: Remover = { remove };
  removers.set(type, remover); // before its fields, which may lead back to it
  for (const [name, field] of Object.entries(type.fields)) {
    const removed: RemovedField = {
      name,
      zero: field.written && !field.required ? zeroFor(field) : undefined,
      isUnset: isAlwaysPresent(field) ? computeDropped(field).isEmpty : undefined,
      makeEmpty: emptyMaker(field),
      inner: removerOf(field.type),
    };
    if (hasWork(removed)) fields.push(removed);
  }
  if (fields.length === 0) remover.remove = undefined;
  return remover.remove;
}

function hasWork({ zero, isUnset, makeEmpty, inner }: RemovedField): boolean {
  return zero !== undefined || isUnset !== undefined || makeEmpty !== undefined || inner !== undefined;
}

function emptyMaker({ required, type }: Field): (() => unknown) | undefined {
  if (!required) return undefined;
  if (type.t === 'list') return () => [];
  return type.t === 'map' ? () => ({}) : undefined;
}

function removeFields(value: Record<string, unknown>, fields: readonly RemovedField[]): void {
  for (const { name, zero, isUnset, makeEmpty, inner } of fields) {
    const given = value[name];
    if (given === undefined) continue;
    if (given === null && makeEmpty !== undefined) {
      value[name] = makeEmpty();
      continue;
    }
    inner?.(given);
    if (given === zero || isUnset?.(given) === true) Reflect.deleteProperty(value, name);
  }
}
