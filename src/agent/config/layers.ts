import { durationMs } from '../../base/index.ts';
import { checkSoftThresholds } from './eviction-fields.ts';
import type { Field, Fields, Json } from './field.ts';
import { checkImages } from './image-fields.ts';
import type { Entry, LocatedMap, Origin } from './located.ts';
import { defaultOrigin, locate, mapOf, toPlain } from './located.ts';
import { checkTaints } from './node-fields.ts';
import type { Problem } from './problems.ts';
import { checkEnforcement } from './reserved-fields.ts';
import { checkShutdownPeriods } from './shutdown-fields.ts';
import { checkCertificatePair } from './tls-fields.ts';

/*
 * What the table of fields makes of the layers of the configuration: the lowest one, of defaults; which values of the
 * files mean the default; and what is wrong with the merged values.
 */

/** The lowest layer, for what is `stated` above it: some defaults depend on that, as in the reference. */
export function defaultLayer(fields: Fields, stated: LocatedMap, standalone: boolean): LocatedMap {
  const entries = new Map<string, Entry>();
  const set = (name: string, value: Json, at: Origin = defaultOrigin) =>
    void entries.set(name, { keyAt: at, value: locate(value, at) });
  for (const [name, field] of Object.entries(fields)) {
    const value = defaultOf(field, standalone);
    const { follows, mergesDefaultIf, noDefaultBeside } = field;
    if (noDefaultBeside !== undefined && stated.entries.has(noDefaultBeside)) continue;
    const leader = follows === undefined ? undefined : plainAt(stated, follows);
    if (follows !== undefined && typeof leader === 'string')
      set(name, leader, { kind: 'default', as: follows });
    else if (
      mergesDefaultIf !== undefined &&
      stated.entries.has(name) &&
      plainAt(stated, mergesDefaultIf) !== true
    )
      continue;
    else if (value !== undefined) set(name, value);
  }
  return mapOf(entries, defaultOrigin);
}

/** Undefined where nothing stands for a field that is not stated. */
export function defaultOf(field: Field, standalone: boolean): Json | undefined {
  if (field.fields === undefined)
    return standalone ? (field.standaloneDefault ?? field.default) : field.default;
  const entries = Object.entries(field.fields).flatMap(([name, inner]): [string, Json][] => {
    const value = defaultOf(inner, standalone);
    return value === undefined ? [] : [[name, value]];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function plainAt(stated: LocatedMap, name: string): unknown {
  const entry = stated.entries.get(name);
  return entry && toPlain(entry.value);
}

export interface WithoutZeros {
  readonly layer: LocatedMap;
  /** The fields that were stated as zero; those that were stated as empty text are not among them. */
  readonly zeros: readonly { readonly path: string; readonly at: Origin }[];
}

/** Leaves out the fields of the files that are zero or empty: as in the reference, they get their defaults. */
export function withoutZeros(fields: Fields, layer: LocatedMap, parent = ''): WithoutZeros {
  const zeros: { path: string; at: Origin }[] = [];
  const kept: [string, Entry][] = [];
  for (const [name, entry] of layer.entries) {
    const { keyAt, value } = entry;
    const path = `${parent}${name}`;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined || field.keepsZero) kept.push([name, entry]);
    else if (field.fields !== undefined && value.type === 'map') {
      const inner = withoutZeros(field.fields, value, `${path}.`);
      zeros.push(...inner.zeros);
      kept.push([name, { keyAt, value: inner.layer }]);
    } else if (isZero(field, toPlain(value))) zeros.push({ path, at: value.at });
    else if (toPlain(value) !== '') kept.push([name, entry]);
  }
  return { layer: mapOf(kept, layer.at), zeros };
}

function isZero({ schema }: Field, value: unknown): boolean {
  return value === 0 || (schema.t === 'duration' && value !== '' && durationMs(String(value)) === 0);
}

/** Looks at the merged values as a whole: what has the right type may still make no sense. */
export function validate(fields: Fields, merged: LocatedMap): Problem[] {
  return [
    ...checkFields(fields, merged),
    ...checkTaints(merged),
    ...checkCertificatePair(merged),
    ...checkSoftThresholds(merged),
    ...checkShutdownPeriods(merged),
    ...checkEnforcement(merged),
    ...checkImages(merged),
  ];
}

function checkFields(fields: Fields, stated: LocatedMap, parent = ''): Problem[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const value = stated.entries.get(name)?.value;
    if (value === undefined) return [];
    const path = `${parent}${name}`;
    const own = problem(value.at, path, field.check?.(toPlain(value)));
    if (value.type !== 'map') return own;
    if (field.fields !== undefined) return [...own, ...checkFields(field.fields, value, `${path}.`)];
    return [...own, ...checkEntries(field, value, path)];
  });
}

function checkEntries(field: Field, map: LocatedMap, path: string): Problem[] {
  return [...map.entries].flatMap(([key, { keyAt, value }]) => {
    const plain = toPlain(value);
    const wrongKey = problem(keyAt, `${path}.${key}`, field.checkKey?.(key, plain));
    return wrongKey.length > 0 ? wrongKey : problem(value.at, `${path}.${key}`, field.checkEntry?.(plain));
  });
}

/** A default is not checked: it is good, or follows another field, which is checked itself. */
function problem(at: Origin, path: string, message: string | undefined): Problem[] {
  return message === undefined || at.kind === 'default' ? [] : [{ at, path, message }];
}
