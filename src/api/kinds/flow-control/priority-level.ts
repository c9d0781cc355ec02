import { forbiddenValue, invalidValue, requiredValue, unsupportedValue } from '../cause.ts';
import { ageColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause, Column } from '../kind.ts';
import { statusPart } from '../workloads/display.ts';
import type { LimitedPriorityLevel, PriorityLevelConfiguration, Queuing } from './description.ts';
import { priorityLevelRoot, unused } from './description.ts';
import { conditionTypeCauses } from './flow-schema-causes.ts';

const usual = { shares: 30, queues: 64, handSize: 8, queueLengthLimit: 50 };
const maxQueues = 10_000_000;
const maxHashBits = 60;

function withDefaults(level: PriorityLevelConfiguration): PriorityLevelConfiguration {
  const { spec } = level;
  if (spec === undefined) return level;
  const { limited, exempt } = spec;
  return {
    ...level,
    spec: {
      ...spec,
      ...(limited === undefined ? {} : { limited: limitedWithDefaults(limited) }),
      ...(exempt === undefined
        ? {}
        : {
            exempt: {
              nominalConcurrencyShares: exempt.nominalConcurrencyShares ?? 0,
              lendablePercent: exempt.lendablePercent ?? 0,
            },
          }),
    },
  };
}

function limitedWithDefaults(limited: LimitedPriorityLevel): LimitedPriorityLevel {
  const { limitResponse } = limited;
  const { queuing } = limitResponse ?? {};
  return {
    ...limited,
    nominalConcurrencyShares: limited.nominalConcurrencyShares ?? usual.shares,
    lendablePercent: limited.lendablePercent ?? 0,
    ...(limitResponse === undefined || queuing === undefined
      ? {}
      : {
          limitResponse: {
            ...limitResponse,
            queuing: {
              queues: queuing.queues || usual.queues,
              handSize: queuing.handSize || usual.handSize,
              queueLengthLimit: queuing.queueLengthLimit || usual.queueLengthLimit,
            },
          },
        }),
  };
}

function validate({ metadata, spec, status }: PriorityLevelConfiguration): Cause[] {
  const { type = '', limited, exempt } = spec ?? {};
  const types = ['Exempt', 'Limited'];
  return [
    ...((metadata?.name === 'exempt') === (type === 'Exempt')
      ? []
      : [invalidValue('spec.type', type, "type must be 'Exempt' if and only if name is 'exempt'")]),
    ...(types.includes(type) ? [] : [unsupportedValue('spec.type', type, types)]),
    ...(type === 'Exempt' && limited !== undefined
      ? [forbiddenValue('spec.limited', 'must be nil if the type is not Limited')]
      : []),
    ...(type === 'Limited' && exempt !== undefined
      ? [forbiddenValue('spec.exempt', 'must be nil if the type is Limited')]
      : []),
    ...(type === 'Limited' ? limitedCauses(limited) : []),
    ...conditionTypeCauses(status?.conditions),
  ];
}

function limitedCauses(limited: LimitedPriorityLevel | undefined): Cause[] {
  const path = 'spec.limited';
  if (limited === undefined) return [requiredValue(path, 'must not be empty when type is Limited')];
  const { nominalConcurrencyShares: shares = 0, lendablePercent, borrowingLimitPercent: borrowed } = limited;
  return [
    ...(shares < 0
      ? [invalidValue(`${path}.nominalConcurrencyShares`, shares, 'must be a non-negative integer')]
      : []),
    ...(lendablePercent !== undefined && (lendablePercent < 0 || lendablePercent > 100)
      ? [invalidValue(`${path}.lendablePercent`, lendablePercent, 'must be between 0 and 100, inclusive')]
      : []),
    ...(borrowed !== undefined && borrowed < 0
      ? [
          invalidValue(
            `${path}.borrowingLimitPercent`,
            borrowed,
            'if specified, must be a non-negative integer',
          ),
        ]
      : []),
    ...responseCauses(limited.limitResponse, `${path}.limitResponse`),
  ];
}

function responseCauses(response: LimitedPriorityLevel['limitResponse'], path: string): Cause[] {
  const { type = '', queuing } = response ?? {};
  if (type === 'Reject')
    return queuing === undefined
      ? []
      : [forbiddenValue(`${path}.queuing`, 'must be nil if limited.limitResponse.type is not Limited')];
  if (type !== 'Queue') return [unsupportedValue(`${path}.type`, type, ['Queue', 'Reject'])];
  return queuing === undefined
    ? [requiredValue(`${path}.queuing`, 'must not be empty if limited.limitResponse.type is Limited')]
    : queuingCauses(queuing, `${path}.queuing`);
}

function queuingCauses({ queues = 0, handSize = 0, queueLengthLimit = 0 }: Queuing, path: string): Cause[] {
  const positive = (name: string, value: number) =>
    value <= 0 ? [invalidValue(`${path}.${name}`, value, 'must be positive')] : [];
  const bits = Math.ceil(hashBits(queues, handSize));
  return [
    ...positive('queueLengthLimit', queueLengthLimit),
    ...positive('queues', queues),
    ...(queues > maxQueues
      ? [invalidValue(`${path}.queues`, queues, `must not be greater than ${maxQueues}`)]
      : []),
    ...positive('handSize', handSize),
    ...(handSize > queues
      ? [invalidValue(`${path}.handSize`, handSize, `should not be greater than queues (${queues})`)]
      : bits > maxHashBits
        ? [
            invalidValue(
              `${path}.handSize`,
              handSize,
              `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${maxHashBits}`,
            ),
          ]
        : []),
  ];
}

/** How many bits choose a hand: the logarithm of the number of hands in their order. */
function hashBits(queues: number, handSize: number): number {
  let bits = 0;
  for (let card = 0; card < handSize && bits <= maxHashBits; card++)
    bits += Math.log2(Math.max(queues - card, 1));
  return bits;
}

function limitColumn(
  name: string,
  description: string,
  value: (limited: LimitedPriorityLevel) => number | undefined,
): Column<PriorityLevelConfiguration> {
  return {
    name,
    type: 'string',
    description,
    priority: 0,
    value: ({ spec }) => (spec?.limited === undefined ? undefined : value(spec.limited)) ?? '<none>',
  };
}

/** How many requests of a priority are worked on at once. */
export const priorityLevelConfigurationKind = defineKind<PriorityLevelConfiguration>({
  group: 'flowcontrol.apiserver',
  version: 'v1',
  kind: 'PriorityLevelConfiguration',
  doc: 'How many requests of a level are carried out at once. Nothing here follows it.',
  resource: 'prioritylevelconfigurations',
  singular: 'prioritylevelconfiguration',
  namespaced: false,
  root: priorityLevelRoot,
  subresources: [statusPart],
  prepare: (next, old) => (old === undefined ? { ...next, status: {} } : next),
  default: withDefaults,
  warnings: () => [unused],
  validate,
  columns: [
    textColumn('Type', 0, 'Limited or Exempt.', ({ spec }) => spec?.type ?? ''),
    limitColumn(
      'NominalConcurrencyShares',
      'Share of the slots.',
      ({ nominalConcurrencyShares }) => nominalConcurrencyShares,
    ),
    limitColumn('Queues', 'How many queues.', ({ limitResponse }) => limitResponse?.queuing?.queues),
    limitColumn(
      'HandSize',
      'How many of them a flow may use.',
      ({ limitResponse }) => limitResponse?.queuing?.handSize,
    ),
    limitColumn(
      'QueueLengthLimit',
      'How many requests may wait in one.',
      ({ limitResponse }) => limitResponse?.queuing?.queueLengthLimit,
    ),
    ageColumn,
  ],
});
