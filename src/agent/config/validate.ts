import { isIP } from 'node:net';
import { checkLabelValue, checkQualifiedName, gateProblem } from '../../api/index.ts';
import { durationMs } from '../../base/index.ts';
import { evictionSignals } from '../node/index.ts';
import { readQuantity, readThreshold, reservable } from './amounts.ts';
import { checkpointRules } from './checkpoint-section.ts';
import { deviceManagerRules } from './device-manager-section.ts';
import { encryptionRules } from './encryption-section.ts';
import type { Entry, Located, LocatedMap } from './located.ts';
import { spotsOf, toPlain } from './located.ts';
import type { Problem } from './problems.ts';
import { retentionRules } from './retention-section.ts';
import type { ConfigField } from './schema.ts';
import { serverRules } from './server-section.ts';
import { staticPodRules } from './static-pods-section.ts';

/** Node's timers hold 24.8 days; a longer wait would end at once. */
const maxMs = 24 * 24 * 3_600_000;
const socketPathLimit = 107;

type Rule = (value: unknown) => string | undefined;

const rules: Partial<Record<ConfigField, Rule>> = {
  address: (value) => (isIP(String(value)) === 0 ? `${quoted(value)} is not an IP address` : undefined),
  port: between(0, 65_535),
  containerRuntimeEndpoint: endpoint,
  runtimeRequestTimeout: lasting(1, '1ms'),
  nodeStatusUpdateFrequency: lasting(100, '100ms'),
  nodeStatusReportFrequency: lasting(100, '100ms'),
  nodeLeaseDurationSeconds: between(1, maxMs / 1000),
  maxPods: between(0, 1_000_000),
  imageServiceEndpoint: endpoint,
  evictionPressureTransitionPeriod: lasting(0, '0s'),
  nodeStatusMaxImages: between(-1, 1_000_000),
  ...serverRules,
  ...staticPodRules,
  providerID: (value) => (String(value).length <= 512 ? undefined : 'must have at most 512 characters'),
};

/** For what stands below a field. */
const partRules: readonly (readonly [path: readonly string[], rule: Rule])[] = [
  [['authorization', 'mode'], oneOf('AlwaysAllow', 'Webhook')],
  [['authorization', 'webhook', 'cacheAuthorizedTTL'], lasting(0, '0s')],
  [['authorization', 'webhook', 'cacheUnauthorizedTTL'], lasting(0, '0s')],
  [['authentication', 'webhook', 'cacheTTL'], lasting(0, '0s')],
  ...Object.entries(checkpointRules).map(([name, rule]) => [['checkpoint', name], rule] as const),
  ...Object.entries(deviceManagerRules).map(([name, rule]) => [['deviceManager', name], rule] as const),
  ...encryptionRules.map(([path, rule]) => [['checkpoint', 'encryption', ...path], rule] as const),
  ...retentionRules.map(([path, rule]) => [['checkpoint', 'retention', ...path], rule] as const),
];

/** For each entry of a map: what its keys may be, and its values. */
const entryRules: Partial<Record<ConfigField, { keys: readonly string[]; rule: Rule }>> = {
  evictionHard: { keys: evictionSignals, rule: threshold },
  evictionSoft: { keys: evictionSignals, rule: threshold },
  evictionSoftGracePeriod: { keys: evictionSignals, rule: grace },
  evictionMinimumReclaim: { keys: evictionSignals, rule: reclaim },
  systemReserved: { keys: reservable, rule: reservation },
  kubeReserved: { keys: reservable, rule: reservation },
};

/** Looks at the merged values as a whole: what has the right type may still make no sense. */
export function validate(merged: LocatedMap): Problem[] {
  const spots = spotsOf(merged);
  const problems: Problem[] = [];
  const report = (path: string, message: string | undefined, part: 'key' | 'value' = 'value') => {
    const at = spots.get(path)?.[part];
    if (at?.kind === 'default') return; // it follows another field, which is looked at itself
    if (message !== undefined) problems.push({ ...(at === undefined ? {} : { at }), path, message });
  };
  for (const [name, rule] of Object.entries(rules)) {
    const entry = merged.entries.get(name);
    if (entry !== undefined) report(name, rule(toPlain(entry.value)));
  }
  for (const [steps, rule] of partRules) {
    const found = valueAt(merged, steps);
    if (found !== undefined) report(steps.join('.'), rule(toPlain(found)));
  }
  for (const [name, { keys, rule }] of Object.entries(entryRules)) {
    for (const [key, { value }] of entriesOf(merged, name)) {
      const path = `${name}.${key}`;
      if (!keys.includes(key)) report(path, `is not one of ${keys.join(', ')}`, 'key');
      else report(path, rule(toPlain(value)));
    }
  }
  problems.push(
    ...taintProblems(merged),
    ...pairProblems(merged),
    ...softProblems(merged),
    ...shutdownProblems(merged),
  );
  for (const [name, { value }] of entriesOf(merged, 'featureGates')) {
    report(`featureGates.${name}`, gateProblem(name, toPlain(value) !== false), 'key');
  }
  return problems;
}

function entriesOf(merged: LocatedMap, name: string): Iterable<[string, Entry]> {
  const value = merged.entries.get(name)?.value;
  return value?.type === 'map' ? value.entries : [];
}

function valueAt(merged: LocatedMap, steps: readonly string[]): Located | undefined {
  let here: Located | undefined = merged;
  for (const step of steps) here = here?.type === 'map' ? here.entries.get(step)?.value : undefined;
  return here;
}

const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function taintProblems(merged: LocatedMap): Problem[] {
  const taints = merged.entries.get('registerWithTaints')?.value;
  const seen = new Set<string>();
  return (taints?.type === 'list' ? taints.items : []).flatMap((item, index): Problem[] => {
    const path = `registerWithTaints[${index}]`;
    const text = (name: string) => {
      const value = item.type === 'map' ? item.entries.get(name)?.value : undefined;
      return value?.type === 'scalar' && typeof value.value === 'string' ? value.value : '';
    };
    const [key, value, effect] = [text('key'), text('value'), text('effect')];
    const identity = `${effect} ${key}`;
    const again = seen.has(identity);
    seen.add(identity);
    const complaints: readonly (readonly [string, string | undefined])[] = [
      [`${path}.key`, checkQualifiedName(key)],
      [`${path}.value`, checkLabelValue(value)],
      [
        `${path}.effect`,
        taintEffects.includes(effect) ? undefined : `must be one of ${taintEffects.join(', ')}`,
      ],
      [path, again ? 'has the key and the effect of one before' : undefined],
    ];
    return complaints.flatMap(([where, message]) =>
      message === undefined ? [] : [{ at: item.at, path: where, message }],
    );
  });
}

/** Certificate and key come together. */
function pairProblems(merged: LocatedMap): Problem[] {
  const [cert, key] = ['tlsCertFile', 'tlsPrivateKeyFile'].map((name) => merged.entries.get(name));
  if ((cert === undefined) === (key === undefined)) return [];
  const [path, missing] =
    key === undefined ? ['tlsCertFile', 'tlsPrivateKeyFile'] : ['tlsPrivateKeyFile', 'tlsCertFile'];
  const at = (cert ?? key)?.keyAt;
  return [{ ...(at === undefined ? {} : { at }), path, message: `needs ${missing} beside it` }];
}

/** A soft threshold without its time would never count, or at once. */
function softProblems(merged: LocatedMap): Problem[] {
  const graces = new Map(entriesOf(merged, 'evictionSoftGracePeriod'));
  return [...entriesOf(merged, 'evictionSoft')]
    .filter(([signal]) => evictionSignals.some((known) => known === signal) && !graces.has(signal))
    .map(([signal, { keyAt }]) => ({
      at: keyAt,
      path: `evictionSoft.${signal}`,
      message: `needs evictionSoftGracePeriod.${signal} beside it`,
    }));
}

/** The part for critical pods is a part of the whole; each is off or at least a second, as in the reference. */
function shutdownProblems(merged: LocatedMap): Problem[] {
  const [whole, critical] = ['shutdownGracePeriod', 'shutdownGracePeriodCriticalPods'].map((path) => {
    const value = merged.entries.get(path)?.value;
    const text = value === undefined ? '0s' : String(toPlain(value));
    return { path, at: value?.at, text, ms: durationMs(text) };
  });
  if (whole === undefined || critical === undefined) return [];
  const complaints = [whole, critical].flatMap(({ path, at, text, ms }) =>
    ms === 0 || ms >= 1000 ? [] : [{ at, path, message: `must be 0s or at least 1s, not ${text}` }],
  );
  if (critical.ms > whole.ms) {
    const message = `must be at most shutdownGracePeriod, ${whole.text}, not ${critical.text}`;
    complaints.push({ at: critical.at, path: critical.path, message });
  }
  return complaints.map(({ at, ...problem }) => ({ ...(at === undefined ? {} : { at }), ...problem }));
}

function oneOf(...allowed: readonly string[]): Rule {
  return (value) =>
    allowed.includes(String(value)) ? undefined : `${quoted(value)} is not one of ${allowed.join(', ')}`;
}

function threshold(value: unknown): string | undefined {
  return readThreshold(String(value)) === undefined
    ? `must be an amount above 0, such as 100Mi, or a percentage, not ${quoted(value)}`
    : undefined;
}

function grace(value: unknown): string | undefined {
  const ms = durationMs(String(value));
  return ms > 0 && ms <= maxMs ? undefined : `must be a duration above 0, such as 90s, not ${quoted(value)}`;
}

/** 0 may be reclaimed, as in the reference, where a threshold of 0 would make no sense. */
function reclaim(value: unknown): string | undefined {
  if (/^0+(?:\.0*)?%?$/.test(String(value))) return undefined;
  return readThreshold(String(value)) === undefined
    ? `must be an amount, such as 500Mi, or a percentage, not ${quoted(value)}`
    : undefined;
}

function reservation(value: unknown): string | undefined {
  const amount = readQuantity(String(value));
  return amount !== undefined && amount >= 0
    ? undefined
    : `must be a quantity from 0 on, not ${quoted(value)}`;
}

function between(least: number, most: number): Rule {
  return (value) =>
    typeof value === 'number' && value >= least && value <= most
      ? undefined
      : `must be from ${least} to ${most}, not ${String(value)}`;
}

function lasting(minMs: number, least: string): Rule {
  return (value) => {
    const ms = durationMs(String(value));
    return ms >= minMs && ms <= maxMs ? undefined : `must be from ${least} to 576h, not ${String(value)}`;
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
