import { isRecord } from '../../api/index.ts';
import { duration, field, int32, quantity, struct } from '../../api/schema/index.ts';
import { durationMs } from '../../base/index.ts';
import type { RetentionLimits, RetentionSettings } from '../checkpoint/index.ts';
import { retentionScopes } from '../checkpoint/index.ts';
import { readQuantity } from './amounts.ts';

const limits = struct('NodewardCheckpointLimits', {
  maxCount: field(1, int32, 'So many are kept at most.'),
  maxBytes: field(2, quantity, 'So much they may take together.'),
  maxAge: field(3, duration, 'How old they may become.'),
  minCount: field(4, int32, 'So many of the newest are kept whatever another limit says.'),
});

/** `checkpoint.retention`: limits for each scope. Nothing is removed by default. */
export const retentionSection = struct('NodewardCheckpointRetention', {
  perContainer: field(1, limits, 'Of the checkpoints of one container of a pod.'),
  perPod: field(2, limits, 'Of those of all containers of a pod.'),
  perNamespace: field(3, limits, 'Of those of all pods of a namespace.'),
  node: field(4, limits, 'Of all checkpoints of the node.'),
});

type Rule = (value: unknown) => string | undefined;

const countLimit = 1_000_000;

const limitRules: readonly (readonly [name: string, rule: Rule])[] = [
  ['', (value) => (isRecord(value) ? crossing(value) : undefined)],
  ['maxCount', count(1)],
  ['minCount', count(0)],
  [
    'maxBytes',
    (value) =>
      (readQuantity(String(value)) ?? 0) >= 1 ? undefined : `must be an amount from 1 on, not ${value}`,
  ],
  [
    'maxAge',
    (value) => (durationMs(String(value)) >= 60_000 ? undefined : `must be 1m or longer, not ${value}`),
  ],
];

/** By path below the section. */
export const retentionRules: readonly (readonly [path: readonly string[], rule: Rule])[] =
  retentionScopes.flatMap((scope) =>
    limitRules.map(([name, rule]) => [name === '' ? [scope] : [scope, name], rule] as const),
  );

/** What the merged and validated section comes to. */
export function retentionOf(section: unknown): RetentionSettings {
  const stated = isRecord(section) ? section : {};
  return Object.freeze(
    Object.fromEntries(
      retentionScopes.flatMap((scope) => (isRecord(stated[scope]) ? [[scope, limitsOf(stated[scope])]] : [])),
    ),
  );
}

function limitsOf({ maxCount, maxBytes, maxAge, minCount }: Record<string, unknown>): RetentionLimits {
  return Object.freeze({
    ...(typeof maxCount === 'number' ? { maxCount } : {}),
    ...(maxBytes === undefined ? {} : { maxBytes: readQuantity(String(maxBytes)) ?? 0 }),
    ...(maxAge === undefined ? {} : { maxAgeMs: durationMs(String(maxAge)) }),
    ...(typeof minCount === 'number' ? { minCount } : {}),
  });
}

function count(least: number): Rule {
  return (value) =>
    typeof value === 'number' && value >= least && value <= countLimit
      ? undefined
      : `must be from ${least} to ${countLimit}, not ${String(value)}`;
}

function crossing({ maxCount, minCount }: Record<string, unknown>): string | undefined {
  if (typeof maxCount !== 'number' || typeof minCount !== 'number' || minCount <= maxCount) return undefined;
  return `minCount ${minCount} is more than maxCount ${maxCount}`;
}
