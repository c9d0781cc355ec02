import type { Rule } from './scalars.ts';
import { scalarRule } from './scalars.ts';
import type { StructType, Type } from './types.ts';

/*
 * The strict walker. A description is compiled once into closures; walking an object then costs little more
 * than touching its fields. The object is the fresh result of a parser and may be changed in place; what the walker
 * returns is kept: without unknown fields and nulls (which mean "absent"), and with scalars in their canonical form.
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
  /** Paths of fields that the description does not know; they were removed. */
  unknown: string[];
  /** Values of a wrong type: these can never be accepted. */
  wrong: { path: string; message: string }[];
}

/** Returns what is kept of `value`; when something of it is wrong, that is in `findings`. */
export type Checker = (value: unknown, place: Place | undefined, findings: Findings) => unknown;

/** `spec.taints[0].key`; keys of maps stand as they are, cut when they are very long. */
export function pathOf(place: Place | undefined): string {
  if (place === undefined) return '';
  const before = pathOf(place.parent);
  if (typeof place.step === 'number') return `${before}[${place.step}]`;
  const step = shortStep(place.step);
  return before === '' ? step : `${before}.${step}`;
}

/** Longer than any key that could be valid; a report must not grow with what is wrong. */
const longestStep = 320;

export function shortStep(step: string): string {
  return step.length <= longestStep ? step : `${step.slice(0, longestStep)}…`;
}

/** What is the most that is reported of each sort; a body of a million unknown fields needs no million warnings. */
export const findingsLimit = 100;

const compiled = new WeakMap<StructType, Checker>();

/** The checker of a description; compiled once. */
export function checkerOf(type: Type): Checker {
  if (type.t === 'struct') return structChecker(type);
  if (type.t === 'list') return listChecker(checkerOf(type.of));
  if (type.t === 'map')
    return mapChecker(checkerOf(type.of), type.of.t === 'string' || type.of.t === 'bytes');
  if (type.t === 'ref')
    return (value, place, findings) => structChecker(type.resolve())(value, place, findings);
  return scalarChecker(scalarRule(type.t));
}

function scalarChecker({ read, expected }: Rule): Checker {
  return (value, place, findings) => {
    const kept = read(value);
    if (kept !== undefined) return kept;
    return reportWrong(value, place, findings, `expected ${expected}, found ${nameOf(value)}`);
  };
}

function structChecker(type: StructType): Checker {
  const known = compiled.get(type);
  if (known !== undefined) return known;
  const fields = new Map<string, Checker>();
  // before its fields, which may lead back to it
  const check: Checker = (value, place, findings) => {
    if (!isRecord(value))
      return reportWrong(value, place, findings, `expected an object, found ${nameOf(value)}`);
    let clean = true;
    for (const name in value) {
      const inner = value[name];
      const checkField = fields.get(name);
      if (checkField !== undefined && inner !== null) {
        const kept = checkField(inner, { parent: place, step: name }, findings);
        if (kept !== inner) value[name] = kept;
        continue;
      }
      clean = false;
      if (checkField === undefined && findings.unknown.length < findingsLimit)
        findings.unknown.push(pathOf({ parent: place, step: name }));
    }
    return clean ? value : onlyKnown(value, fields);
  };
  compiled.set(type, check);
  for (const [name, field] of Object.entries(type.fields)) fields.set(name, checkerOf(field.type));
  return check;
}

/** A copy without what does not belong; to delete from a large object takes far longer. */
function onlyKnown(value: Record<string, unknown>, fields: ReadonlyMap<string, Checker>) {
  const kept: Record<string, unknown> = {};
  for (const name in value) {
    const inner = value[name];
    if (inner !== null && fields.has(name)) kept[name] = inner;
  }
  return kept;
}

function listChecker(checkItem: Checker): Checker {
  return (value, place, findings) => {
    if (!Array.isArray(value))
      return reportWrong(value, place, findings, `expected a list, found ${nameOf(value)}`);
    for (let index = 0; index < value.length; index++) {
      value[index] = checkItem(value[index], { parent: place, step: index }, findings);
    }
    return value;
  };
}

function mapChecker(checkValue: Checker, ofText: boolean): Checker {
  return (value, place, findings) => {
    if (!isRecord(value))
      return reportWrong(value, place, findings, `expected a map, found ${nameOf(value)}`);
    for (const key in value) {
      const inner = value[key] === null && ofText ? '' : value[key];
      const kept = checkValue(inner, { parent: place, step: key }, findings);
      if (kept !== value[key]) value[key] = kept;
    }
    return value;
  };
}

function reportWrong(value: unknown, place: Place | undefined, findings: Findings, message: string): unknown {
  if (findings.wrong.length < findingsLimit) findings.wrong.push({ path: pathOf(place), message });
  return value;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a JSON value is called in a message. */
export function nameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  const text = JSON.stringify(value) ?? 'nothing';
  return `${typeof value} ${text.length > 60 ? `${text.slice(0, 57)}…` : text}`;
}
