import type { Located, LocatedMap, Origin } from './located.ts';
import { originText, toPlain } from './located.ts';
import { redact } from './secrets.ts';

/** A value of the configuration, whence it comes, and what it won over. */
export interface Provenance {
  /** `authorization.webhook.cacheTTL`; a list is one value, as it is replaced as a whole. */
  readonly path: string;
  /** Undefined where a null has removed what was stated before and there is no default. */
  readonly value: unknown;
  readonly origin: Origin;
  /** What others have stated for it, the one that came nearest first. */
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
 * are shown as REDACTED.
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
  const shown = (text: unknown) => redact(steps, text);
  return {
    path: steps.join('.'),
    value: shown(value),
    origin,
    overrode: others.map((other) => ({ value: shown(other.value), origin: other.origin })),
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
    origin: originText(origin),
    overrode: overrode.map((stated) => ({ value: stated.value, origin: originText(stated.origin) })),
  }));
}
