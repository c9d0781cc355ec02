import { ageColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import { defaultPodSpec } from '../pods/defaults.ts';
import { isSameTemplate, templateCauses } from './causes.ts';
import type { PodTemplate } from './core-description.ts';
import { podTemplateRoot } from './core-description.ts';
import { podColumns } from './display.ts';

function withDefaults(object: PodTemplate): PodTemplate {
  if (object.template?.spec !== undefined) defaultPodSpec(object.template.spec);
  return object;
}

/** A template of pods by itself. */
export const podTemplateKind = defineKind<PodTemplate>({
  group: '',
  version: 'v1',
  kind: 'PodTemplate',
  doc: 'What pods are made from, as an object of its own.',
  resource: 'podtemplates',
  singular: 'podtemplate',
  namespaced: true,
  generation: 'fields',
  root: podTemplateRoot,
  default: withDefaults,
  validate: ({ template = {} }, old) =>
    isSameTemplate(template, old?.template) ? [] : templateCauses(template, 'template'),
  columns: [
    ...podColumns<PodTemplate>(
      ({ template }) => template,
      ({ template }) => ({ matchLabels: template?.metadata?.labels ?? {} }),
    ).map((column) => ({
      ...column,
      priority: 0,
      name: column.name === 'Selector' ? 'Pod Labels' : column.name,
    })),
    ageColumn,
  ],
});
