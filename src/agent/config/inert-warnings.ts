import { featureGates } from '../../api/index.ts';
import { whyInert } from './inert.ts';
import type { LocatedMap } from './located.ts';
import { originText, toPlain } from './located.ts';

/** A warning for each value of the merged configuration that is known and changes nothing here. */
export function inertWarnings(merged: LocatedMap): string[] {
  return [...inertIn(merged, ''), ...gateWarnings(merged)];
}

function inertIn(map: LocatedMap, before: string): string[] {
  return [...map.entries].flatMap(([key, { keyAt, value }]) => {
    if (keyAt.kind === 'default') return [];
    const path = before === '' ? key : `${before}.${key}`;
    const why = whyInert(path, toPlain(value));
    if (why !== undefined) return [`${originText(keyAt)}: ${path} has no effect here: ${why}`];
    return value.type === 'map' ? inertIn(value, path) : [];
  });
}

/** Of the control plane's features the agent knows only what it is told by flags. */
function gateWarnings(merged: LocatedMap): string[] {
  const gates = merged.entries.get('featureGates')?.value;
  if (gates?.type !== 'map') return [];
  return [...gates.entries].flatMap(([name, { keyAt }]) => {
    if (keyAt.kind !== 'file' || parts.get(name) !== 'apiserver') return [];
    const why = 'it is of the control plane; use --feature-gates';
    return [`${originText(keyAt)}: featureGates.${name} has no effect here: ${why}`];
  });
}

const parts = new Map(Object.entries(featureGates).map(([name, { part }]): [string, string] => [name, part]));
