import { checkQualifiedName } from '../../names/index.ts';
import {
  causesOf,
  forbiddenValue,
  invalidUnless,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from '../cause.ts';
import type { Cause } from '../kind.ts';
import type { LabelSelector } from '../meta/label-selector.ts';
import { labelCauses, labelSelector, labelSelectorCauses, selectsLabels } from '../meta/label-selector.ts';
import { hasSameMeaning } from '../pod-validation/difference.ts';
import { notNegative } from '../pod-validation/formats.ts';
import { podSpecCauses } from '../pod-validation/validate-spec.ts';
import type { PodTemplateSpec } from './template.ts';
import { podTemplateSpec } from './template.ts';

/* What the kinds that make pods have in common. */

/** The causes why several numbers at `path` are below zero. */
export function negativeCauses<T extends object>(
  owner: T,
  names: readonly (keyof T & string)[],
  path: string,
): Cause[] {
  return names.flatMap((name) => {
    const value = owner[name];
    return typeof value === 'number' ? notNegative(`${path}.${name}`, value) : [];
  });
}

/** The causes why the template of some pods is invalid. */
export function templateCauses(template: PodTemplateSpec, path: string): Cause[] {
  const { labels = {}, annotations = {} } = template.metadata ?? {};
  const ephemeral = template.spec?.ephemeralContainers ?? [];
  const noEphemeral = 'ephemeral containers not allowed in pod template';
  return [
    ...labelCauses(labels, `${path}.labels`),
    ...causesOf(Object.keys(annotations), (key) =>
      invalidUnless(`${path}.annotations`, key, checkQualifiedName(key.toLowerCase())),
    ),
    ...(ephemeral.length === 0 ? [] : [forbiddenValue(`${path}.spec.ephemeralContainers`, noEphemeral)]),
    ...(template.spec === undefined
      ? [requiredValue(`${path}.spec.containers`)]
      : podSpecCauses(template.spec, '', `${path}.spec`)),
  ];
}

/** A part of a workload that was checked when it was written and is the same still; the checks of a pod cost time. */
export function isSameTemplate(next: PodTemplateSpec | undefined, old: PodTemplateSpec | undefined): boolean {
  return next !== undefined && old !== undefined && hasSameMeaning(podTemplateSpec, next, old);
}

/** The causes why a selector that must select something is invalid; `kind` as it stands in the message. */
export function selectorCauses(selector: LabelSelector | undefined, path: string, kind: string): Cause[] {
  if (selector === undefined) return []; // a missing field has a cause of its own
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const isEmpty = Object.keys(matchLabels).length + matchExpressions.length === 0;
  return [
    ...labelSelectorCauses(selector, path),
    ...(isEmpty ? [invalidValue(path, selector, `empty selector is invalid for ${kind}`)] : []),
  ];
}

/** What lasting pods need: they are selected by what makes them, and run for ever. */
export function lastingPodsCauses(
  { selector, template }: { selector: LabelSelector | undefined; template: PodTemplateSpec | undefined },
  path: string,
  kind: string,
): Cause[] {
  if (template === undefined) return [];
  const { restartPolicy, activeDeadlineSeconds } = template.spec ?? {};
  const labels = template.metadata?.labels;
  const field = `${path}.template`;
  const isOther = selector === undefined || !selectsLabels(selector, labels ?? {});
  const otherLabels = '`selector` does not match template `labels`';
  return [
    ...(isOther ? [invalidValue(`${field}.metadata.labels`, labels, otherLabels)] : []),
    ...(restartPolicy === undefined || restartPolicy === 'Always'
      ? []
      : [unsupportedValue(`${field}.spec.restartPolicy`, restartPolicy, ['Always'])]),
    ...(activeDeadlineSeconds === undefined
      ? []
      : [
          forbiddenValue(
            `${field}.spec.activeDeadlineSeconds`,
            `activeDeadlineSeconds in ${kind} is not Supported`,
          ),
        ]),
  ];
}

/** The cause why a selector that is fixed has changed. */
export function selectorChangeCauses(
  next: LabelSelector | undefined,
  old: LabelSelector | undefined,
  path: string,
): Cause[] {
  if (hasSameMeaning(labelSelector, next, old)) return [];
  return [invalidValue(path, next, 'field is immutable')];
}

type Counts = Readonly<Record<string, unknown>>;

/** The causes why counts in a status contradict each other: each of `names` is part of `whole`. */
export function partCauses(status: Counts, names: readonly string[], whole: string): Cause[] {
  const most = numberOf(status[whole]);
  return names.flatMap((name) => {
    const count = numberOf(status[name]);
    const text = whole === 'replicas' ? 'status.replicas' : whole;
    return count > most ? [invalidValue(`status.${name}`, count, `cannot be greater than ${text}`)] : [];
  });
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

/** A count of collisions only grows: names that are made of it must be new. */
export function collisionCauses(
  next: { collisionCount?: number } | undefined,
  old: { collisionCount?: number } | undefined,
): Cause[] {
  const [now, before] = [next?.collisionCount, old?.collisionCount];
  if (before === undefined || (now !== undefined && now >= before)) return [];
  return [invalidValue('status.collisionCount', now ?? null, 'cannot be decremented')];
}

const percent = /^\d+%$/;
const percentText =
  "a valid percent string must be a numeric followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** The causes why a number or percentage is invalid. */
export function countOrPercentCauses(value: number | string | undefined, field: string): Cause[] {
  if (typeof value === 'string') return percent.test(value) ? [] : [invalidValue(field, value, percentText)];
  return notNegative(field, value);
}

/** As `countOrPercentCauses`, of at most 100 %. */
export function partOfAllCauses(value: number | string | undefined, field: string): Cause[] {
  const causes = countOrPercentCauses(value, field);
  return causes.length > 0 || percentOf(value) <= 100
    ? causes
    : [invalidValue(field, value, 'must not be greater than 100%')];
}

function percentOf(value: number | string | undefined): number {
  return typeof value === 'string' ? Number.parseInt(value, 10) : 0;
}

/** Whether a number or percentage is none. */
export function isNone(value: number | string | undefined): boolean {
  return Number.parseInt(String(value ?? 0), 10) === 0;
}
