import { checkQualifiedName } from '../../names/index.ts';
import {
  causesOf,
  duplicateValue,
  invalidUnless,
  invalidValue,
  invalidWhole,
  requiredValue,
  tooLongValue,
  tooManyItems,
  unsupportedValue,
} from '../cause.ts';
import type { Cause } from '../kind.ts';
import { labelSelectorCauses, selectsLabels } from '../meta/label-selector.ts';
import { oneOfIfSet } from '../pod-validation/formats.ts';
import { isSameTemplate, negativeCauses, templateCauses } from '../workloads/causes.ts';
import type { JobSpec } from './description.ts';

const indexesLimit = 100_000;
const manyIndexesLimit = 10_000;

/** The causes why the spec of a job is invalid; `old` is that of the stored one. */
export function jobSpecCauses(spec: JobSpec, path: string, old?: JobSpec): Cause[] {
  const { template } = spec;
  const numbers = [
    ...([
      'parallelism',
      'completions',
      'activeDeadlineSeconds',
      'backoffLimit',
      'ttlSecondsAfterFinished',
    ] as const),
    ...(['backoffLimitPerIndex', 'maxFailedIndexes'] as const),
  ];
  return [
    ...negativeCauses(spec, numbers, path),
    ...modeCauses(spec, path),
    ...policyCauses(spec, path),
    ...successCauses(spec, `${path}.successPolicy`),
    ...oneOfIfSet(
      `${path}.podReplacementPolicy`,
      spec.podReplacementPolicy,
      spec.podFailurePolicy === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed'],
    ),
    ...managerCauses(spec.managedBy, `${path}.managedBy`),
    ...(template === undefined || isSameTemplate(template, old?.template)
      ? []
      : templateCauses(template, `${path}.template`)),
    ...restartCauses(spec, `${path}.template.spec.restartPolicy`),
  ];
}

const managerLimit = 63;

function managerCauses(name: string | undefined, field: string): Cause[] {
  if (name === undefined) return [];
  const wrong = name.includes('/')
    ? checkQualifiedName(name)
    : 'must be a domain-prefixed path (such as "acme.io/foo")';
  return name.length > managerLimit ? [tooLongValue(field, managerLimit)] : invalidUnless(field, name, wrong);
}

/** How the pods of a job are found: the server gives it labels of its own unless its writer does so. */
export function jobSelectorCauses(spec: JobSpec, path: string): Cause[] {
  const { selector, template } = spec;
  if (selector === undefined) return [requiredValue(`${path}.selector`)];
  const labels = template?.metadata?.labels ?? {};
  return [
    ...labelSelectorCauses(selector, `${path}.selector`),
    ...(selectsLabels(selector, labels)
      ? []
      : [
          invalidValue(
            `${path}.template.metadata.labels`,
            labels,
            '`selector` does not match template `labels`',
          ),
        ]),
  ];
}

function restartCauses({ template, podFailurePolicy }: JobSpec, field: string): Cause[] {
  const policy = template?.spec?.restartPolicy;
  if (policy === 'Always' || policy === undefined || policy === '')
    return [requiredValue(field, 'valid values: "OnFailure", "Never"')];
  if (policy !== 'OnFailure' && policy !== 'Never')
    return [unsupportedValue(field, policy, ['OnFailure', 'Never'])];
  if (podFailurePolicy === undefined || policy === 'Never') return [];
  return [invalidValue(field, policy, 'only "Never" is supported when podFailurePolicy is specified')];
}

function modeCauses(spec: JobSpec, path: string): Cause[] {
  const { completionMode: mode, completions, parallelism = 0 } = spec;
  if (mode === undefined || mode === 'NonIndexed') return indexedOnlyCauses(spec, path);
  if (mode !== 'Indexed')
    return [unsupportedValue(`${path}.completionMode`, mode, ['NonIndexed', 'Indexed'])];
  if (completions === undefined)
    return [requiredValue(`${path}.completions`, 'when completion mode is Indexed')];
  const { maxFailedIndexes, backoffLimitPerIndex } = spec;
  const tooMany = `must be less than or equal to ${indexesLimit} when completion mode is Indexed`;
  return [
    ...(parallelism > indexesLimit ? [invalidValue(`${path}.parallelism`, parallelism, tooMany)] : []),
    ...(maxFailedIndexes !== undefined && maxFailedIndexes > completions
      ? [
          invalidValue(
            `${path}.maxFailedIndexes`,
            maxFailedIndexes,
            'must be less than or equal to completions',
          ),
        ]
      : []),
    ...(maxFailedIndexes !== undefined && maxFailedIndexes > indexesLimit
      ? [
          invalidValue(
            `${path}.maxFailedIndexes`,
            maxFailedIndexes,
            `must be less than or equal to ${indexesLimit}`,
          ),
        ]
      : []),
    ...(completions > indexesLimit && backoffLimitPerIndex !== undefined
      ? manyIndexesCauses({ maxFailedIndexes, parallelism }, path)
      : []),
    ...(maxFailedIndexes !== undefined && backoffLimitPerIndex === undefined
      ? [requiredValue(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified')]
      : []),
  ];
}

/** The indexes that fail are all in the status: of very many, few may fail and run at a time. */
function manyIndexesCauses(
  limited: { maxFailedIndexes: number | undefined; parallelism: number },
  path: string,
): Cause[] {
  const tooMany = `must be less than or equal to ${manyIndexesLimit} when completions are above ${indexesLimit} and used with backoff limit per index`;
  return [
    ...(limited.maxFailedIndexes === undefined
      ? [
          requiredValue(
            `${path}.maxFailedIndexes`,
            `must be specified when completions is above ${indexesLimit}`,
          ),
        ]
      : []),
    ...(['parallelism', 'maxFailedIndexes'] as const).flatMap((name) => {
      const value = limited[name] ?? 0;
      return value > manyIndexesLimit ? [invalidValue(`${path}.${name}`, value, tooMany)] : [];
    }),
  ];
}

function indexedOnlyCauses(spec: JobSpec, path: string): Cause[] {
  return (['backoffLimitPerIndex', 'maxFailedIndexes', 'successPolicy'] as const).flatMap((name) =>
    spec[name] === undefined
      ? []
      : [invalidValue(`${path}.${name}`, spec[name], 'requires indexed completion mode')],
  );
}

const rulesLimit = 20;
const codesLimit = 255;

function policyCauses({ podFailurePolicy, template, backoffLimitPerIndex }: JobSpec, path: string): Cause[] {
  if (podFailurePolicy === undefined) return [];
  const field = `${path}.podFailurePolicy.rules`;
  const rules = podFailurePolicy.rules ?? [];
  const { initContainers = [], containers = [] } = template?.spec ?? {};
  const names = new Set([...initContainers, ...containers].map(({ name }) => name));
  return [
    ...(rules.length > rulesLimit ? [tooManyItems(field, rules.length, rulesLimit)] : []),
    ...causesOf(rules, (rule, index) =>
      ruleCauses(rule, `${field}[${index}]`, names, backoffLimitPerIndex !== undefined),
    ),
  ];
}

type FailureRule = NonNullable<NonNullable<JobSpec['podFailurePolicy']>['rules']>[number];

function ruleCauses(
  rule: FailureRule,
  field: string,
  names: ReadonlySet<string>,
  isPerIndex: boolean,
): Cause[] {
  const { action, onExitCodes, onPodConditions = [] } = rule;
  const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
  const both = onExitCodes !== undefined && onPodConditions.length > 0;
  const neither = onExitCodes === undefined && onPodConditions.length === 0;
  return [
    ...(action === ''
      ? [requiredValue(`${field}.action`, 'valid values: ["Count" "FailIndex" "FailJob" "Ignore"]')]
      : oneOfIfSet(`${field}.action`, action, actions)),
    ...(action === 'FailIndex' && !isPerIndex
      ? [invalidValue(`${field}.action`, action, 'requires the backoffLimitPerIndex to be set')]
      : []),
    ...(onExitCodes === undefined ? [] : exitCodeCauses(onExitCodes, `${field}.onExitCodes`, names)),
    ...causesOf(onPodConditions, ({ type, status }, index) => [
      ...invalidUnless(`${field}.onPodConditions[${index}].type`, type, checkQualifiedName(type)),
      ...oneOfIfSet(`${field}.onPodConditions[${index}].status`, status, ['False', 'True', 'Unknown']),
    ]),
    ...(both
      ? [invalidWhole(field, 'specifying both OnExitCodes and OnPodConditions is not supported')]
      : []),
    ...(neither
      ? [invalidWhole(field, 'specifying one of OnExitCodes and OnPodConditions is required')]
      : []),
  ];
}

function exitCodeCauses(
  { operator, values, containerName }: NonNullable<FailureRule['onExitCodes']>,
  field: string,
  names: ReadonlySet<string>,
): Cause[] {
  const ordered = values.every((value, index) => index === 0 || value > (values[index - 1] ?? 0));
  const isUnknown = containerName !== undefined && !names.has(containerName);
  return [
    ...oneOfIfSet(`${field}.operator`, operator, ['In', 'NotIn']),
    ...(isUnknown
      ? [
          invalidValue(
            `${field}.containerName`,
            containerName,
            'must be one of the container or initContainer names in the pod template',
          ),
        ]
      : []),
    ...(values.length === 0
      ? [invalidValue(`${field}.values`, values, 'at least one value is required')]
      : []),
    ...(values.length > codesLimit ? [tooManyItems(`${field}.values`, values.length, codesLimit)] : []),
    ...(ordered ? [] : [invalidValue(`${field}.values`, values, 'must be ordered')]),
    ...causesOf(values, (value, index) => [
      ...(operator === 'In' && value === 0
        ? [invalidValue(`${field}.values[${index}]`, value, 'must not be 0 for the In operator')]
        : []),
      ...(values.indexOf(value) < index ? [duplicateValue(`${field}.values[${index}]`, value)] : []),
    ]),
  ];
}

function successCauses({ successPolicy, completions = 0 }: JobSpec, path: string): Cause[] {
  if (successPolicy === undefined) return [];
  const { rules } = successPolicy;
  if (rules.length === 0)
    return [
      requiredValue(
        `${path}.rules`,
        'at least one rules must be specified when the successPolicy is specified',
      ),
    ];
  return [
    ...(rules.length > rulesLimit ? [tooManyItems(`${path}.rules`, rules.length, rulesLimit)] : []),
    ...causesOf(rules, ({ succeededCount, succeededIndexes }, index) => {
      const field = `${path}.rules[${index}]`;
      if (succeededCount === undefined && succeededIndexes === undefined)
        return [requiredValue(field, 'at least one of succeededCount or succeededIndexes must be specified')];
      const wrong = succeededIndexes === undefined ? undefined : checkIndexes(succeededIndexes, completions);
      return [
        ...(wrong === undefined
          ? []
          : [
              invalidValue(
                `${field}.succeededIndexes`,
                succeededIndexes,
                `error parsing succeededIndexes: ${wrong}`,
              ),
            ]),
        ...negativeCauses({ succeededCount }, ['succeededCount'], field),
        ...(succeededCount !== undefined && succeededCount > completions
          ? [
              invalidValue(
                `${field}.succeededCount`,
                succeededCount,
                `must be less than or equal to ${completions} (the number of specified completions)`,
              ),
            ]
          : []),
        ...(succeededCount !== undefined && succeededIndexes !== undefined && wrong === undefined
          ? listedCauses(succeededCount, succeededIndexes, `${field}.succeededCount`)
          : []),
      ];
    }),
  ];
}

/** No more indexes can succeed than a rule lists. */
function listedCauses(count: number, indexes: string, field: string): Cause[] {
  const listed = indexes.split(',').reduce((sum, part) => {
    const [from = '', to = from] = part.split('-');
    return sum + Number(to) - Number(from) + 1;
  }, 0);
  const tooMany = `must be less than or equal to ${listed} (the number of indexes in the specified succeededIndexes field)`;
  return count > listed ? [invalidValue(field, count, tooMany)] : [];
}

/** What is wrong with indexes such as `1,3-5`. */
function checkIndexes(text: string, completions: number): string | undefined {
  let last = -1;
  for (const part of text.split(',')) {
    const [, from = '', to = from] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part) ?? [];
    if (from === '') return `cannot convert string to integer for index: "${part}"`;
    if (Number(from) <= last) return 'non-increasing order';
    if (Number(to) < Number(from)) return `non-increasing order, previous: ${from}, current: ${to}`;
    if (Number(to) >= completions) return `too large index: "${to}"`;
    last = Number(to);
  }
  return undefined;
}
