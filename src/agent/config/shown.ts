import type { LocatedMap } from './located.ts';
import { toPlain } from './located.ts';
import { configApiVersion, configKind } from './schema.ts';
import { redact } from './secrets.ts';

/** The configuration as a KubeletConfiguration that may be shown: nothing secret in it. */
export type ShownConfig = Readonly<Record<string, unknown>>;

export function shownConfig(merged: LocatedMap): ShownConfig {
  const fields = [...merged.entries].map(([name, { value }]): [string, unknown] => [
    name,
    redact([name], toPlain(value)),
  ]);
  const sorted = fields.filter(([name]) => name !== 'apiVersion' && name !== 'kind').sort(byName);
  return { kind: configKind, apiVersion: configApiVersion, ...Object.fromEntries(sorted) };
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);
