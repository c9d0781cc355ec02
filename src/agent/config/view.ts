import { isRecord } from '../../api/schema/index.ts';
import { configApiVersion, configFields, configKind } from './fields.ts';
import type { Located, LocatedMap, Origin } from './located.ts';
import { formatOrigin, toPlain } from './located.ts';

/** A value of the configuration, where it comes from, and what it overrode. */
export interface Provenance {
  /** `authorization.webhook.cacheTTL`; a list is one value, as it is replaced as a whole. */
  readonly path: string;
  /** Undefined where a null has removed what was stated before and there is no default. */
  readonly value: unknown;
  readonly origin: Origin;
  /** What other layers state for it, the highest layer first. */
  readonly overrode: readonly Stated[];
}

export interface Stated {
  /** Null: the key was removed. */
  readonly value: unknown;
  readonly origin: Origin;
}

interface Leaf extends Stated {
  readonly steps: readonly string[];
}

/**
 * Explains every value of `merged` by the `layers` that it was merged from, the lowest first. Values that may be secret
 * are replaced by REDACTED.
 */
export function explain(merged: LocatedMap, layers: readonly LocatedMap[]): Provenance[] {
  const stated = new Map<string, Leaf[]>();
  for (const leaf of layers.toReversed().flatMap((layer) => leavesOf(layer, []))) {
    const key = JSON.stringify(leaf.steps);
    stated.set(key, [...(stated.get(key) ?? []), leaf]);
  }
  const present = leavesOf(merged, []).map((leaf) => {
    const key = JSON.stringify(leaf.steps);
    const others = (stated.get(key) ?? []).filter(({ origin }) => origin !== leaf.origin);
    stated.delete(key);
    return provenance(leaf, leaf.value, others);
  });
  const removed = [...stated.values()].flatMap(([last, ...others]) =>
    last?.value === null ? [provenance(last, undefined, others)] : [],
  );
  return [...present, ...removed].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function provenance({ steps, origin }: Leaf, value: unknown, others: readonly Leaf[]): Provenance {
  return {
    path: steps.join('.'),
    value: redact(steps, value),
    origin,
    overrode: others.map((other) => ({ value: redact(steps, other.value), origin: other.origin })),
  };
}

function leavesOf(map: LocatedMap, before: readonly string[]): Leaf[] {
  return [...map.entries].flatMap(([key, { value }]) => {
    const steps = [...before, key];
    if (steps.length === 1 && (key === 'apiVersion' || key === 'kind')) return [];
    return isBranch(value) ? leavesOf(value, steps) : [{ steps, value: toPlain(value), origin: value.at }];
  });
}

const isBranch = (value: Located): value is LocatedMap => value.type === 'map' && value.entries.size > 0;

/** One row of the provenance, for programs. */
export interface OriginRow {
  field: string;
  /** Absent where the value was removed. */
  value?: unknown;
  /** `FILE:LINE`, `flag --NAME` or `default`. */
  origin: string;
  overrode: { value: unknown; origin: string }[];
}

export function originTable(provenance: readonly Provenance[]): OriginRow[] {
  return provenance.map(({ path, value, origin, overrode }) => ({
    field: path,
    ...(value === undefined ? {} : { value }),
    origin: formatOrigin(origin),
    overrode: overrode.map((stated) => ({ value: stated.value, origin: formatOrigin(stated.origin) })),
  }));
}

/** The configuration as a KubeletConfiguration that may be printed: without secrets. */
export type PrintableConfig = Readonly<Record<string, unknown>>;

export function toPrintable(merged: LocatedMap): PrintableConfig {
  const fields = [...merged.entries].map(([name, { value }]): [string, unknown] => [
    name,
    redact([name], toPlain(value)),
  ]);
  const sorted = fields.filter(([name]) => name !== 'apiVersion' && name !== 'kind').sort(byName);
  return { kind: configKind, apiVersion: configApiVersion, ...Object.fromEntries(sorted) };
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);

/** Printed in place of a secret. */
const redacted = 'REDACTED';

const isSecret = (name = '') => Object.hasOwn(configFields, name) && configFields[name]?.isSecret === true;

/** A message about the field at `path`, without the value that was found there where it may be secret. */
export function redactMessage(path: string, message: string): string {
  return isSecret(path.split(/[.[]/, 1)[0]) ? message.replace(/, found .*$/s, '') : message;
}

/** A value that may be printed, by the keys that lead to it. A removed value stays removed. */
function redact(steps: readonly string[], value: unknown): unknown {
  return isSecret(steps[0]) && value !== null && value !== undefined ? hide(value) : value;
}

function hide(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [redacted];
  if (!isRecord(value)) return redacted;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, hide(inner)]));
}
