import { ageColumn, countColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import { formatSelector, statusPart } from '../workloads/display.ts';
import { bindingWithDefaults, policyWithDefaults } from './defaults.ts';
import {
  mutatingBindingCauses,
  mutatingPolicyCauses,
  validatingBindingCauses,
  validatingPolicyCauses,
} from './policy-causes.ts';
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from './policy-description.ts';
import {
  mutatingBindingRoot,
  mutatingPolicyRoot,
  validatingBindingRoot,
  validatingPolicyRoot,
} from './policy-description.ts';

const common = {
  group: 'admissionregistration',
  version: 'v1',
  categories: ['api-extensions'],
  namespaced: false,
  generation: 'spec',
  unconditionalUpdate: false,
  warnings: () => ['nothing in nodeward enforces admission policies: what this asks for is not done'],
} as const;

const unset = '<unset>';

const kindColumn = textColumn<{ spec?: { paramKind?: ParamKind } }>(
  'ParamKind',
  0,
  'Of which kind the parameters are.',
  ({ spec: { paramKind } = {} }) =>
    paramKind === undefined ? unset : `${paramKind.apiVersion ?? ''}/${paramKind.kind ?? ''}`,
);

function formatParams(params: ParamRef | undefined): string {
  const { name = '', namespace = '*', selector } = params ?? {};
  if (name !== '') return `${namespace}/${name}`;
  return selector === undefined ? unset : formatSelector(selector);
}

const bindingColumns = [
  textColumn<{ spec?: { policyName?: string } }>(
    'PolicyName',
    0,
    'Name of the policy.',
    ({ spec }) => spec?.policyName ?? '',
  ),
  textColumn<{ spec?: { paramRef?: ParamRef } }>('ParamRef', 0, 'Its parameters.', ({ spec }) =>
    formatParams(spec?.paramRef),
  ),
  ageColumn,
];

export const validatingAdmissionPolicyKind = defineKind<ValidatingAdmissionPolicy>({
  ...common,
  kind: 'ValidatingAdmissionPolicy',
  doc: 'What must be true of requests, as expressions.',
  resource: 'validatingadmissionpolicies',
  singular: 'validatingadmissionpolicy',
  root: validatingPolicyRoot,
  subresources: [statusPart],
  prepare: (next, old) => (old === undefined ? { ...next, status: {} } : next),
  default: (policy) => ({ ...policy, spec: policyWithDefaults(policy.spec ?? {}) }),
  validate: validatingPolicyCauses,
  columns: [
    countColumn('Validations', 'How many expressions.', ({ spec }) => spec?.validations?.length),
    kindColumn,
    ageColumn,
  ],
});

export const validatingAdmissionPolicyBindingKind = defineKind<ValidatingAdmissionPolicyBinding>({
  ...common,
  kind: 'ValidatingAdmissionPolicyBinding',
  doc: 'Where a policy for requests holds, and with which parameters.',
  resource: 'validatingadmissionpolicybindings',
  singular: 'validatingadmissionpolicybinding',
  root: validatingBindingRoot,
  default: (binding) => ({ ...binding, spec: bindingWithDefaults(binding.spec ?? {}) }),
  validate: validatingBindingCauses,
  columns: bindingColumns,
});

export const mutatingAdmissionPolicyKind = defineKind<MutatingAdmissionPolicy>({
  ...common,
  kind: 'MutatingAdmissionPolicy',
  doc: 'How written objects are changed, as expressions.',
  resource: 'mutatingadmissionpolicies',
  singular: 'mutatingadmissionpolicy',
  root: mutatingPolicyRoot,
  default: (policy) => ({ ...policy, spec: policyWithDefaults(policy.spec ?? {}) }),
  validate: mutatingPolicyCauses,
  columns: [
    countColumn('Mutations', 'How many changes.', ({ spec }) => spec?.mutations?.length),
    kindColumn,
    ageColumn,
  ],
});

export const mutatingAdmissionPolicyBindingKind = defineKind<MutatingAdmissionPolicyBinding>({
  ...common,
  kind: 'MutatingAdmissionPolicyBinding',
  doc: 'Where a policy that changes objects holds, and with which parameters.',
  resource: 'mutatingadmissionpolicybindings',
  singular: 'mutatingadmissionpolicybinding',
  root: mutatingBindingRoot,
  default: (binding) => ({ ...binding, spec: bindingWithDefaults(binding.spec ?? {}) }),
  validate: mutatingBindingCauses,
  columns: bindingColumns,
});
