import { textColumn } from '../columns.ts';
import type { ApiObject, Column, Subresource } from '../kind.ts';
import { changeableMetadata } from '../kind.ts';
import type { LabelSelector } from '../meta/label-selector.ts';
import type { PodTemplateSpec } from './template.ts';

/* What the tables and paths of the kinds that make pods have in common. */

/** A subresource for the state that a controller observes. */
export const statusPart: Subresource = {
  name: 'status',
  verbs: ['get', 'patch', 'update'],
  fields: ['status'],
  metadata: changeableMetadata,
};

const none = '<none>';

/** A selector as people write it: `app=web,tier in (a,b)`. */
export function formatSelector(selector: LabelSelector | undefined): string {
  if (selector === undefined) return none;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const parts = [
    ...Object.entries(matchLabels).map(([key, value]) => ({ key, text: `${key}=${value}` })),
    ...matchExpressions.map(({ key, operator, values = [] }) => ({
      key,
      text: formatRequirement(key, operator, values),
    })),
  ];
  parts.sort((one, other) => (one.key < other.key ? -1 : 1));
  return parts.map(({ text }) => text).join(',') || none;
}

function formatRequirement(key: string, operator: string, values: readonly string[]): string {
  switch (operator) {
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return `${key} ${operator.toLowerCase()} (${values.toSorted().join(',')})`;
  }
}

/** The selector in the form that a Scale has: empty where there is none. */
export function selectorText(selector: LabelSelector | undefined): string {
  const text = formatSelector(selector);
  return text === none ? '' : text;
}

/** The columns of wide output: what the pods run, and how they are found. */
export function podColumns<T extends ApiObject>(
  templateOf: (object: T) => PodTemplateSpec | undefined,
  selectorOf: (object: T) => LabelSelector | undefined,
): Column<T>[] {
  const joined = (object: T, name: 'image' | 'name') =>
    (templateOf(object)?.spec?.containers ?? []).map((container) => container[name] ?? '').join(',');
  return [
    textColumn('Containers', 1, 'Names of the containers.', (object) => joined(object, 'name')),
    textColumn('Images', 1, 'Images of the containers.', (object) => joined(object, 'image')),
    textColumn('Selector', 1, 'Labels of the pods.', (object) => formatSelector(selectorOf(object))),
  ];
}
