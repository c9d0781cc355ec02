import { invalidValue } from '../cause.ts';
import { ageColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import { hasSameMeaning } from '../pod-validation/difference.ts';
import { claimSpecCauses } from './causes.ts';
import type { ResourceClaimTemplate } from './description.ts';
import { resourceClaimTemplateRoot } from './description.ts';
import { withClaimDefaults } from './resource-claim.ts';

function withDefaults(template: ResourceClaimTemplate): ResourceClaimTemplate {
  const { spec } = template;
  if (spec?.spec === undefined) return template;
  return { ...template, spec: { ...spec, spec: withClaimDefaults(spec.spec) } };
}

function validate({ spec }: ResourceClaimTemplate, old: ResourceClaimTemplate | undefined): Cause[] {
  if (old === undefined) return claimSpecCauses(spec?.spec ?? {}, 'spec.spec');
  const isSame = hasSameMeaning(resourceClaimTemplateRoot.fields.spec.type, spec, old.spec);
  return isSame ? [] : [invalidValue('spec', spec, 'field is immutable')];
}

/** What claims for single pods are made from. */
export const resourceClaimTemplateKind = defineKind<ResourceClaimTemplate>({
  group: 'resource',
  version: 'v1',
  kind: 'ResourceClaimTemplate',
  doc: 'What the claims of single pods are made from.',
  resource: 'resourceclaimtemplates',
  singular: 'resourceclaimtemplate',
  namespaced: true,
  root: resourceClaimTemplateRoot,
  default: withDefaults,
  validate,
  columns: [ageColumn],
});
