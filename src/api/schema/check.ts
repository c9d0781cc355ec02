import { isRecord } from '../../base/index.ts';
import { scalarRule } from './scalars.ts';
import type { Field, Scalar, StructType, Type } from './types.ts';
import type { Dropped } from './zeros.ts';
import { computeDropped, zeroItemOf } from './zeros.ts';

/*
 * The strict checker. A description is compiled once into closures; checking an object then costs little more than
 * reading its fields. The object is the fresh result of a parser and may be changed in place. The result has no unknown
 * fields, no nulls and zeros where they mean "absent" (see zeros.ts), and scalars in their canonical form.
 * A null as an item of a list or map means one in which nothing is set, as in the reference. Paths are built only when there is
 * something to report.
 *
 * Required fields are not checked here: whether their absence is an error is known only after defaulting, and validation
 * reports it with the other causes.
 */

/** The position of a value: a chain towards the root, formatted only for a report. */
export interface Place {
  readonly parent: Place | undefined;
  readonly step: string | number;
}

export interface Findings {
  /** Whether values are secrets, which messages must not contain. */
  sensitive?: boolean;
  /** Whether zeros, nulls and empty lists and maps stay: in a configuration to apply they are values like any other. */
  zerosStay?: boolean;
  /** Paths of fields that the description does not have; they were removed. */
  unknown: string[];
  /** Values of a wrong type, which can never be accepted. */
  wrong: { path: string; message: string }[];
}

/** Returns the checked `value`; adds what is wrong to `findings`. */
export type Checker = (value: unknown, place: Place | undefined, findings: Findings) => unknown;

/** The keys and indexes from the root to a place. */
function stepsTo(place: Place | undefined): (string | number)[] {
  return place === undefined ? [] : [...stepsTo(place.parent), place.step];
}

/** More than the length of any valid key; a report must not grow with the input. */
const maxStepLength = 320;
const maxPathLength = 1000;

/** Formats keys and indexes as `spec.taints[0].key`; the beginning of a very long path is left out. */
export function joinPath(steps: readonly (string | number)[]): string {
  const path = steps.reduce<string>((before, step) => {
    if (typeof step === 'number') return `${before}[${step}]`;
    return before === '' ? shortStep(step) : `${before}.${shortStep(step)}`;
  }, '');
  return path.length <= maxPathLength ? path : `…${path.slice(-maxPathLength)}`;
}

export function shortStep(step: string): string {
  return step.length <= maxStepLength ? step : `${step.slice(0, maxStepLength)}…`;
}

/** How many values of a wrong type are reported. */
export const wrongLimit = 100;
/** How many unknown, and how many duplicate, fields are reported; one more is recorded to show that there are more. */
export const complaintsLimit = 1000;

const compiled = new WeakMap<StructType, Checker>();

/** The checker of a description; compiled once. */
export function checkerOf(type: Type): Checker {
  if (type.t === 'struct') return structChecker(type);
  if (type.t === 'list') return listChecker(type.of);
  if (type.t === 'map') return mapChecker(type.of);
  if (type.t === 'ref')
    return (value, place, findings) => structChecker(type.resolve())(value, place, findings);
  return scalarChecker(type.t);
}

function scalarChecker(scalar: Scalar): Checker {
  const { read, expected } = scalarRule(scalar);
  const hides = scalar === 'bytes'; // usually keys and passwords
  return (value, place, findings) => {
    const kept = read(value);
    return kept === undefined ? reportWrong(value, place, findings, expected, hides) : kept;
  };
}

interface FieldChecker extends Dropped {
  check: Checker;
}

function structChecker(type: StructType): Checker {
  const known = compiled.get(type);
  if (known !== undefined) return known;
  const fields = new Map<string, FieldChecker>();
  // registered before its fields, which may refer back to it
  const check: Checker = (value, place, findings) => {
    if (!isRecord(value)) return reportWrong(value, place, findings, 'an object');
    let clean = true;
    for (const name in value) {
      const inner = value[name];
      const field = fields.get(name);
      if (field !== undefined && inner !== null) {
        const kept = field.check(inner, { parent: place, step: name }, findings);
        if (isDropped(kept, field) && !findings.zerosStay) {
          value[name] = null;
          clean = false;
        } else if (kept !== inner) value[name] = kept;
        continue;
      }
      if (field !== undefined && findings.zerosStay) continue;
      clean = false;
      if (field === undefined && findings.unknown.length <= complaintsLimit)
        findings.unknown.push(joinPath(stepsTo({ parent: place, step: name })));
    }
    return clean ? value : copyKnownFields(value, fields, findings);
  };
  compiled.set(type, check);
  for (const [name, field] of Object.entries(type.fields)) fields.set(name, fieldChecker(field));
  return check;
}

function fieldChecker(field: Field): FieldChecker {
  return { check: checkerOf(field.type), ...computeDropped(field) };
}

function isDropped(value: unknown, { zero, isEmpty }: Dropped): boolean {
  return value === zero || isEmpty?.(value) === true;
}

/** A copy without unknown and dropped fields; deleting from a large object takes far longer. */
function copyKnownFields(
  value: Record<string, unknown>,
  fields: ReadonlyMap<string, unknown>,
  { zerosStay = false }: Findings,
) {
  const kept: Record<string, unknown> = {};
  for (const name in value) {
    const inner = value[name];
    if ((inner !== null || zerosStay) && fields.has(name)) kept[name] = inner;
  }
  return kept;
}

function listChecker(of: Type): Checker {
  const checkItem = checkerOf(of);
  return (value, place, findings) => {
    if (!Array.isArray(value)) return reportWrong(value, place, findings, 'a list');
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index] ?? (findings.zerosStay ? null : zeroItemOf(of));
      value[index] = checkItem(item, { parent: place, step: index }, findings);
    }
    return value;
  };
}

function mapChecker(of: Type): Checker {
  const checkValue = checkerOf(of);
  const ofText = of.t === 'string' || of.t === 'bytes';
  const ofTime = of.t === 'time' || of.t === 'microTime';
  return (value, place, findings) => {
    if (!isRecord(value)) return reportWrong(value, place, findings, 'a map');
    for (const key in value) {
      if (value[key] === null && ofTime && !findings.zerosStay) {
        Reflect.deleteProperty(value, key); // a time that is not set has no text
        continue;
      }
      const inner = value[key] ?? (findings.zerosStay && !ofText ? null : zeroItemOf(of));
      const kept = checkValue(inner, { parent: place, step: key }, findings);
      if (kept !== value[key]) value[key] = kept;
    }
    return value;
  };
}

function reportWrong(
  value: unknown,
  place: Place | undefined,
  findings: Findings,
  expected: string,
  hides = false,
): unknown {
  if (findings.wrong.length < wrongLimit) {
    const found = hides || findings.sensitive ? typeNameOf(value) : nameOf(value);
    findings.wrong.push({ path: joinPath(stepsTo(place)), message: `expected ${expected}, found ${found}` });
  }
  return value;
}

/** Describes a JSON value by its type, in a message that must not contain it. */
export function typeNameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Describes a JSON value in a message, with its text if it is a scalar, cut when long. */
export function nameOf(value: unknown): string {
  if (typeof value === 'object') return typeNameOf(value);
  const text = JSON.stringify(value) ?? 'nothing';
  return `${typeof value} ${text.length > 60 ? `${text.slice(0, 57)}…` : text}`;
}
