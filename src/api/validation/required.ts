import type { Cause } from '../kinds/index.ts';
import type { StructType, Type } from '../schema/index.ts';
import { isRecord } from '../schema/index.ts';

/*
 * A description is compiled once into closures that look only where a required field can be missing: most of a large
 * object has none, and a body may have a hundred thousand items. Paths are built only for missing fields.
 */

/** How many causes are reported; a body of a million empty items needs no million causes. */
const causesLimit = 100;

/** The position of a value: a chain towards the root. */
interface Place {
  parent: Place | undefined;
  /** A step of the path: `spec`, `[0]`, `[key]`. */
  step: string;
}

type Finder = (value: unknown, place: Place | undefined, causes: Cause[]) => void;

/** A cause for each of the first hundred required fields that are absent, with its path. Call it after defaulting. */
export function findMissingFields(type: Type, value: unknown): Cause[] {
  const causes: Cause[] = [];
  finderOf(type)?.(value, undefined, causes);
  return causes;
}

const compiled = new WeakMap<StructType, { find: Finder | undefined }>();

/** Undefined where nothing can be missing. */
function finderOf(type: Type): Finder | undefined {
  if (type.t === 'struct') return structFinder(type);
  if (type.t === 'ref') return (value, place, causes) => structFinder(type.resolve())?.(value, place, causes);
  if (type.t === 'list' || type.t === 'map') return itemsFinder(finderOf(type.of));
  return undefined;
}

function itemsFinder(findIn: Finder | undefined): Finder | undefined {
  if (findIn === undefined) return undefined;
  return (value, parent, causes) => {
    if (typeof value !== 'object' || value === null) return;
    for (const key in value) {
      if (causes.length >= causesLimit) return;
      findIn(Reflect.get(value, key), { parent, step: `[${key}]` }, causes);
    }
  };
}

function structFinder(type: StructType): Finder | undefined {
  const known = compiled.get(type);
  if (known !== undefined) return known.find;
  const entries = Object.entries(type.fields)
    .map(([name, field]) => ({ name, required: field.required, find: finderOf(field.type) }))
    .filter(({ required, find }) => required || find !== undefined);
  const find: Finder = (value, parent, causes) => {
    if (!isRecord(value)) return;
    for (const entry of entries) {
      const inner = value[entry.name];
      if (inner !== undefined) entry.find?.(inner, { parent, step: entry.name }, causes);
      else if (entry.required && causes.length < causesLimit) {
        const field = pathOf({ parent, step: entry.name });
        causes.push({ reason: 'FieldValueRequired', field, message: 'Required value' });
      }
    }
  };
  const kept = { find: entries.length === 0 ? undefined : find };
  compiled.set(type, kept);
  return kept.find;
}

function pathOf({ parent, step }: Place): string {
  if (parent === undefined) return step;
  return step.startsWith('[') ? pathOf(parent) + step : `${pathOf(parent)}.${step}`;
}
