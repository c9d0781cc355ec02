import { isIP } from 'node:net';
import { gateProblem } from '../../api/index.ts';
import { durationMs } from '../../base/index.ts';
import type { LocatedMap } from './located.ts';
import { spotsOf, toPlain } from './located.ts';
import type { Problem } from './problems.ts';
import type { ConfigField } from './schema.ts';

/** Node's timers hold 24.8 days; a longer wait would end at once. */
const longestMs = 24 * 24 * 3_600_000;
const socketPathLimit = 107;

type Rule = (value: unknown) => string | undefined;

const rules: Partial<Record<ConfigField, Rule>> = {
  address: (value) => (isIP(String(value)) === 0 ? `${quoted(value)} is not an IP address` : undefined),
  port: between(0, 65_535),
  containerRuntimeEndpoint: endpoint,
  runtimeRequestTimeout: lasting(1, '1ms'),
  nodeStatusUpdateFrequency: lasting(100, '100ms'),
  nodeStatusReportFrequency: lasting(100, '100ms'),
  nodeLeaseDurationSeconds: between(1, longestMs / 1000),
  maxPods: between(0, 1_000_000),
};

/** Looks at the merged values as a whole: what has the right type may still make no sense. */
export function validate(merged: LocatedMap): Problem[] {
  const spots = spotsOf(merged);
  const problems: Problem[] = [];
  const report = (path: string, message: string | undefined, part: 'key' | 'value' = 'value') => {
    const at = spots.get(path)?.[part];
    if (message !== undefined) problems.push({ ...(at === undefined ? {} : { at }), path, message });
  };
  for (const [name, rule] of Object.entries(rules)) {
    const entry = merged.entries.get(name);
    if (entry !== undefined) report(name, rule(toPlain(entry.value)));
  }
  const gates = merged.entries.get('featureGates')?.value;
  for (const [name, { value }] of gates?.type === 'map' ? gates.entries : []) {
    report(`featureGates.${name}`, gateProblem(name, toPlain(value) !== false), 'key');
  }
  return problems;
}

function between(least: number, most: number): Rule {
  return (value) =>
    typeof value === 'number' && value >= least && value <= most
      ? undefined
      : `must be from ${least} to ${most}, not ${String(value)}`;
}

function lasting(leastMs: number, least: string): Rule {
  return (value) => {
    const ms = durationMs(String(value));
    return ms >= leastMs && ms <= longestMs
      ? undefined
      : `must be from ${least} to 576h, not ${String(value)}`;
  };
}

function endpoint(value: unknown): string | undefined {
  const text = String(value);
  if (text === '') return undefined;
  const path = text.startsWith('unix://') ? text.slice('unix://'.length) : text;
  if (!/^\/[^/\0]/.test(path)) return `${quoted(value)} is not supported; use unix:///absolute/path`;
  if (Buffer.byteLength(path) <= socketPathLimit) return undefined;
  return `the path of a socket has at most ${socketPathLimit} bytes, this one has ${Buffer.byteLength(path)}`;
}

function quoted(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}
