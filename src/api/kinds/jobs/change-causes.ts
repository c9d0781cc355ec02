import { checkName } from '../../names/index.ts';
import { invalidValue, invalidWhole, requiredValue } from '../cause.ts';
import type { Cause } from '../kind.ts';
import { selectsLabels } from '../meta/label-selector.ts';
import { hasSameMeaning } from '../pod-validation/difference.ts';
import { negativeCauses } from '../workloads/causes.ts';
import type { PodTemplateSpec } from '../workloads/template.ts';
import { podTemplateSpec } from '../workloads/template.ts';
import type { Job, JobSpec, JobStatus } from './description.ts';
import { jobSpec } from './description.ts';

/* What a new job needs, and what may change in one that is there. */

const fixed = [
  'completions',
  'selector',
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
] as const;
const alsoFixed = ['managedBy', 'successPolicy'] as const;

/** The causes why a change of a job is invalid. */
export function jobChangeCauses(next: JobSpec, old: JobSpec, status: JobStatus, path: string): Cause[] {
  const isChanged = (name: (typeof fixed | typeof alsoFixed)[number]) =>
    !hasSameMeaning(jobSpec.fields[name].type, next[name], old[name]);
  const isElastic = next.completionMode === 'Indexed';
  const names = [...fixed, ...alsoFixed].filter(
    (name) => isChanged(name) && !(name === 'completions' && isElastic),
  );
  return [
    ...names.map((name) => invalidValue(`${path}.${name}`, next[name] ?? null, 'field is immutable')),
    ...(isElastic && isChanged('completions') ? tandemCauses(next, `${path}.completions`) : []),
    ...templateChangeCauses(next, old, status, `${path}.template`),
  ];
}

/** An indexed job may get more or fewer indexes when as many pods run at a time. */
function tandemCauses({ completions, parallelism }: JobSpec, field: string): Cause[] {
  if (completions === undefined || completions === parallelism) return [];
  return [invalidValue(field, completions, 'can only be modified in tandem with spec.parallelism')];
}

/** Of a suspended job that runs nothing, what decides where its pods go, and what they get, may change. */
function templateChangeCauses(next: JobSpec, old: JobSpec, status: JobStatus, field: string): Cause[] {
  const { startTime, active = 0 } = status;
  const isIdle = startTime === undefined || hasCondition(status, 'Suspended');
  const mayChange = old.suspend === true && isIdle && active === 0;
  const { template } = next;
  const wanted = mayChange && template !== undefined ? withPlacement(old.template, template) : old.template;
  if (hasSameMeaning(podTemplateSpec, template, wanted)) return [];
  return [invalidValue(field, template, 'field is immutable')];
}

type PodSpec = NonNullable<PodTemplateSpec['spec']>;

/** The old template with what may be taken of the new one. */
function withPlacement(old: PodTemplateSpec, next: PodTemplateSpec): PodTemplateSpec {
  const {
    nodeSelector,
    tolerations,
    schedulingGates,
    affinity,
    containers = [],
    initContainers,
  } = next.spec ?? {};
  const { annotations, labels } = next.metadata ?? {};
  const given = <T extends object>(values: T) =>
    Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  const {
    nodeSelector: _n,
    tolerations: _t,
    schedulingGates: _g,
    affinity: before,
    ...spec
  } = old.spec ?? emptySpec;
  const { annotations: _a, labels: _l, ...metadata } = old.metadata ?? {};
  return {
    ...old,
    metadata: { ...metadata, ...given({ annotations, labels }) },
    spec: {
      ...spec,
      containers: withResources(spec.containers, containers),
      ...(spec.initContainers === undefined
        ? {}
        : { initContainers: withResources(spec.initContainers, initContainers ?? []) }),
      ...given({ nodeSelector, tolerations, schedulingGates, affinity: nodeAffinityOf(before, affinity) }),
    },
  };
}

const emptySpec: PodSpec = { containers: [] };

/** The old affinity to pods, with the new one to nodes. */
function nodeAffinityOf(old: PodSpec['affinity'], next: PodSpec['affinity']): PodSpec['affinity'] {
  const { nodeAffinity: _old, ...toPods } = old ?? {};
  const nodeAffinity = next?.nodeAffinity;
  const whole = { ...toPods, ...(nodeAffinity === undefined ? {} : { nodeAffinity }) };
  return next === undefined && Object.keys(whole).length === 0 ? undefined : whole;
}

function withResources<T extends { name: string; resources?: unknown }>(
  old: readonly T[],
  next: readonly T[],
): T[] {
  if (old.length !== next.length) return [...old];
  return old.map((container, index) => {
    const other = next[index];
    return other?.name === container.name ? { ...container, resources: other.resources } : container;
  });
}

function hasCondition(status: JobStatus | undefined, type: string): boolean {
  return status?.conditions?.some((each) => each.type === type && each.status === 'True') === true;
}

/** The causes why the observed state of a job is invalid: what has ended stays so, for one reason. */
export function jobStatusCauses(next: JobStatus, old: JobStatus | undefined): Cause[] {
  const field = 'status.conditions';
  const isUndone = (type: string) => hasCondition(old, type) && !hasCondition(next, type);
  const exclusive = [
    ['Complete', 'Failed', 'Complete=True and Failed=true'],
    ['Complete', 'FailureTarget', 'Complete=True and FailureTarget=true'],
    ['SuccessCriteriaMet', 'Failed', 'SuccessCriteriaMet=True and Failed=true'],
    ['SuccessCriteriaMet', 'FailureTarget', 'SuccessCriteriaMet=True and FailureTarget=true'],
  ] as const;
  return [
    ...negativeCauses(next, ['active', 'succeeded', 'failed', 'ready', 'terminating'], 'status'),
    ...exclusive
      .filter(([one, other]) => hasCondition(next, one) && hasCondition(next, other))
      .map(([, , both]) => invalidWhole(field, `cannot set ${both} conditions`)),
    ...['Failed', 'Complete', 'FailureTarget']
      .filter(isUndone)
      .map((type) => invalidWhole(field, `cannot disable the terminal ${type}=True condition`)),
    ...(isUndone('SuccessCriteriaMet')
      ? [invalidWhole(field, 'cannot disable the SuccessCriteriaMet=True condition')]
      : []),
    ...(['failed', 'succeeded'] as const).flatMap((name) => {
      const [now = 0, before = 0] = [next[name], old?.[name]];
      return now >= before
        ? []
        : [invalidValue(`status.${name}`, now, `cannot decrease the ${name} counter`)];
    }),
    ...(old?.completionTime !== undefined && next.completionTime !== old.completionTime
      ? [invalidValue('status.completionTime', next.completionTime ?? null, 'field is immutable')]
      : []),
  ];
}

export const uidLabel = 'batch.kubernetes.io/controller-uid';
const nameLabel = 'batch.kubernetes.io/job-name';

/** The labels by which a job finds its pods, and people find them; two of them are older. */
export function jobLabels(name: string, uid: string): Record<string, string> {
  return { 'controller-uid': uid, 'job-name': name, [uidLabel]: uid, [nameLabel]: name };
}

/** The causes why a new job cannot have its name, or the labels and the selector that its writer has given it. */
export function newJobCauses({ metadata, spec }: Job): Cause[] {
  if (spec === undefined) return [];
  const { name = '', uid = '' } = metadata ?? {};
  return [
    ...(spec.manualSelector === true ? [] : generatedCauses(spec, jobLabels(name, uid))),
    ...nameCauses(name, spec),
  ];
}

function generatedCauses({ selector, template }: JobSpec, labels: Readonly<Record<string, string>>): Cause[] {
  const found = template?.metadata?.labels ?? {};
  const path = 'spec.template.metadata.labels';
  return [
    ...Object.entries(labels).flatMap(([key, value]) => {
      const field = `${path}[${key}]`;
      if (found[key] === undefined) return [requiredValue(field, `must be '${value}'`)];
      return found[key] === value ? [] : [invalidValue(field, found, `must be '${value}'`)];
    }),
    ...(selector === undefined || selectsLabels(selector, labels)
      ? []
      : [invalidValue('spec.selector', selector, '`selector` not auto-generated')]),
  ];
}

/** The name of an indexed job becomes part of the host names of its pods. */
function nameCauses(name: string, { completionMode, completions = 0 }: JobSpec): Cause[] {
  const longest = `${name}-${completions - 1}`;
  if (completionMode !== 'Indexed' || completions <= 0 || checkName('label', longest) === undefined)
    return [];
  return [
    invalidValue('metadata.name', name, `will not able to create pod with invalid DNS label: ${longest}`),
  ];
}
