import { isRecord } from '../../base/index.ts';
import { scalarRule } from './scalars.ts';
import type { Field, Scalar, StructType, Type } from './types.ts';
import type { Dropped } from './zeros.ts';
import { droppedFrom, isEmpty } from './zeros.ts';

/*
 * The strict walker. A description is compiled once into closures; walking an object then costs little more
 * than touching its fields. The object is the fresh result of a parser and may be changed in place; what the walker
 * returns is kept: without unknown fields, without nulls and zeros where they mean "absent" (see zeros.ts), and with
 * scalars in their canonical form.
 * In a map of strings or bytes a null means the empty text, as the reference has it. Paths are built only when there is
 * something to report.
 *
 * Required fields are not looked at here: whether their absence is an error is known only after defaulting, and
 * it is told with the other causes of validation.
 */

/** Where a value stands: a chain towards the root, turned into text only for a report. */
export interface Place {
  readonly parent: Place | undefined;
  readonly step: string | number;
}

export interface Findings {
  /** Whether values are secrets: messages then show none. */
  sensitive?: boolean;
  /** Whether zeros, nulls and empty lists and maps stay: in what is applied they are said like any other value. */
  zerosStay?: boolean;
  /** Paths of fields that the description does not know; they were removed. */
  unknown: string[];
  /** Values of a wrong type: these can never be accepted. */
  wrong: { path: string; message: string }[];
}

/** Returns what is kept of `value`; when something of it is wrong, that is in `findings`. */
export type Checker = (value: unknown, place: Place | undefined, findings: Findings) => unknown;

/** Keys and indexes from the root. */
function stepsTo(place: Place | undefined): (string | number)[] {
  return place === undefined ? [] : [...stepsTo(place.parent), place.step];
}

/** Longer than any key that could be valid; a report must not grow with what is wrong. */
const maxStepLength = 320;
const maxPathLength = 1000;

/** `spec.taints[0].key`, from keys and indexes; the beginning of a very long path is left out. */
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

/** Values of a wrong type are told up to this many. */
export const wrongLimit = 100;
/** Of unknown, and of double, fields this many are told; one more is noted, so that it can be said that there are more. */
export const complaintsLimit = 1000;

const compiled = new WeakMap<StructType, Checker>();

/** The checker of a description; compiled once. */
export function checkerOf(type: Type): Checker {
  if (type.t === 'struct') return structChecker(type);
  if (type.t === 'list') return listChecker(checkerOf(type.of));
  if (type.t === 'map')
    return mapChecker(checkerOf(type.of), type.of.t === 'string' || type.of.t === 'bytes');
  if (type.t === 'ref')
    return (value, place, findings) => structChecker(type.resolve())(value, place, findings);
  return scalarChecker(type.t);
}

function scalarChecker(scalar: Scalar): Checker {
  const { read, expected } = scalarRule(scalar);
  const hides = scalar === 'bytes'; // keys and passwords, mostly
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
  // before its fields, which may lead back to it
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
    return clean ? value : onlyKnown(value, fields, findings);
  };
  compiled.set(type, check);
  for (const [name, field] of Object.entries(type.fields)) fields.set(name, fieldChecker(field));
  return check;
}

function fieldChecker(field: Field): FieldChecker {
  return { check: checkerOf(field.type), ...droppedFrom(field) };
}

function isDropped(value: unknown, { zero, empty }: Dropped): boolean {
  return value === zero || (empty && isEmpty(value));
}

/** A copy without what does not belong; to delete from a large object takes far longer. */
function onlyKnown(
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

function listChecker(checkItem: Checker): Checker {
  return (value, place, findings) => {
    if (!Array.isArray(value)) return reportWrong(value, place, findings, 'a list');
    for (let index = 0; index < value.length; index++) {
      value[index] = checkItem(value[index], { parent: place, step: index }, findings);
    }
    return value;
  };
}

function mapChecker(checkValue: Checker, ofText: boolean): Checker {
  return (value, place, findings) => {
    if (!isRecord(value)) return reportWrong(value, place, findings, 'a map');
    for (const key in value) {
      const inner = value[key] === null && ofText ? '' : value[key];
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

/** What a JSON value is called in a message that must not show it. */
export function typeNameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** What a JSON value is called in a message, itself where it is short. */
export function nameOf(value: unknown): string {
  if (typeof value === 'object') return typeNameOf(value);
  const text = JSON.stringify(value) ?? 'nothing';
  return `${typeof value} ${text.length > 60 ? `${text.slice(0, 57)}…` : text}`;
}
