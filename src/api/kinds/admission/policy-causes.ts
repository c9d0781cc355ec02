import { checkName, checkQualifiedName } from '../../names/index.ts';
import {
  causesOf,
  duplicateValue,
  forbiddenValue,
  invalidUnless,
  invalidValue,
  requiredValue,
} from '../cause.ts';
import type { Cause } from '../kind.ts';
import { labelSelectorCauses } from '../meta/label-selector.ts';
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from './policy-description.ts';
import {
  conditionCauses,
  failurePolicies,
  matchResourcesCauses,
  oneOf,
  reinvocationPolicies,
} from './rule-causes.ts';

const maxAnnotations = 20;
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized'];
const actions = ['Audit', 'Deny', 'Warn'];
const variableName = /^[_a-zA-Z][_a-zA-Z0-9]*$/;

type ValidatingSpec = NonNullable<ValidatingAdmissionPolicy['spec']>;
type MutatingSpec = NonNullable<MutatingAdmissionPolicy['spec']>;

/** What both sorts of policies have. */
function commonCauses(spec: ValidatingSpec | MutatingSpec): Cause[] {
  const { matchConstraints } = spec;
  return [
    ...oneOf('spec.failurePolicy', spec.failurePolicy, failurePolicies),
    ...paramKindCauses(spec.paramKind, 'spec.paramKind'),
    ...(matchConstraints === undefined ? [requiredValue('spec.matchConstraints')] : []),
    ...matchResourcesCauses(matchConstraints, 'spec.matchConstraints'),
    ...(matchConstraints !== undefined && (matchConstraints.resourceRules ?? []).length === 0
      ? [requiredValue('spec.matchConstraints.resourceRules')]
      : []),
    ...conditionCauses(spec.matchConditions, 'spec.matchConditions'),
    ...causesOf(spec.variables, ({ name, expression }, index) => {
      const at = `spec.variables[${index}]`;
      return [
        ...(name.trim() === ''
          ? [requiredValue(`${at}.name`, 'name is not specified')]
          : variableName.test(name)
            ? []
            : [invalidValue(`${at}.name`, name, 'name is not a valid CEL identifier')]),
        ...expressionCauses(expression, `${at}.expression`),
      ];
    }),
  ];
}

function expressionCauses(expression: string | undefined, field: string): Cause[] {
  return (expression ?? '').trim() === '' ? [requiredValue(field, 'expression is not specified')] : [];
}

function paramKindCauses(params: ParamKind | undefined, path: string): Cause[] {
  if (params === undefined) return [];
  const { apiVersion = '', kind = '' } = params;
  const version = apiVersion.split('/').at(-1) ?? '';
  return [
    ...(apiVersion === ''
      ? [requiredValue(`${path}.apiVersion`)]
      : invalidUnless(`${path}.apiVersion`, version, checkName('hostLabel', version))),
    ...(kind === ''
      ? [requiredValue(`${path}.kind`)]
      : invalidUnless(`${path}.kind`, kind, checkName('hostLabel', kind.toLowerCase()))),
  ];
}

/** The causes why a policy that validates is invalid. */
export function validatingPolicyCauses({ metadata, spec = {} }: ValidatingAdmissionPolicy): Cause[] {
  const { validations = [], auditAnnotations = [] } = spec;
  const isEmpty = validations.length + auditAnnotations.length === 0;
  const both = 'validations or auditAnnotations must contain at least one item';
  return [
    ...commonCauses(spec),
    ...(isEmpty
      ? [requiredValue('spec.validations', both), requiredValue('spec.auditAnnotations', both)]
      : []),
    ...causesOf(validations, (validation, index) =>
      validationCauses(validation, `spec.validations[${index}]`),
    ),
    ...annotationCauses(auditAnnotations, metadata?.name ?? ''),
  ];
}

function validationCauses(
  { expression, message, messageExpression, reason }: NonNullable<ValidatingSpec['validations']>[number],
  path: string,
): Cause[] {
  return [
    ...expressionCauses(expression, `${path}.expression`),
    ...(messageExpression !== undefined && messageExpression.trim() === ''
      ? [invalidValue(`${path}.messageExpression`, messageExpression, 'must be non-empty if specified')]
      : []),
    ...(message !== undefined && message.trim() === ''
      ? [invalidValue(`${path}.message`, message, 'message must be non-empty if specified')]
      : []),
    ...(message?.trim().includes('\n')
      ? [invalidValue(`${path}.message`, message, 'message must not contain line breaks')]
      : []),
    ...oneOf(`${path}.reason`, reason, reasons),
  ];
}

function annotationCauses(
  annotations: NonNullable<ValidatingSpec['auditAnnotations']>,
  name: string,
): Cause[] {
  const field = 'spec.auditAnnotations';
  const earlier = new Set<string>();
  return [
    ...(annotations.length > maxAnnotations
      ? [
          invalidValue(
            field,
            annotations.length,
            `must not have more than ${maxAnnotations} auditAnnotations`,
          ),
        ]
      : []),
    ...causesOf(annotations, ({ key, valueExpression }, index) => {
      const at = `${field}[${index}]`;
      const isAgain = earlier.has(key);
      earlier.add(key);
      return [
        ...invalidUnless(`${at}.key`, key, checkQualifiedName(name === '' ? key : `${name}/${key}`)),
        ...((valueExpression ?? '').trim() === ''
          ? [requiredValue(`${at}.valueExpression`, 'valueExpression is not specified')]
          : []),
        ...(isAgain ? [duplicateValue(`${at}.key`, key)] : []),
      ];
    }),
  ];
}

/** The causes why a policy that changes objects is invalid. */
export function mutatingPolicyCauses({ spec = {} }: MutatingAdmissionPolicy): Cause[] {
  const { mutations = [], reinvocationPolicy } = spec;
  return [
    ...commonCauses(spec),
    ...(mutations.length === 0
      ? [requiredValue('spec.mutations', 'mutations must contain at least one item')]
      : []),
    ...causesOf(mutations, (mutation, index) => mutationCauses(mutation, `spec.mutations[${index}]`)),
    ...(reinvocationPolicy === undefined
      ? [requiredValue('spec.reinvocationPolicy')]
      : oneOf('spec.reinvocationPolicy', reinvocationPolicy, reinvocationPolicies)),
  ];
}

const patchForms = { ApplyConfiguration: 'applyConfiguration', JSONPatch: 'jsonPatch' } as const;

function mutationCauses(mutation: NonNullable<MutatingSpec['mutations']>[number], path: string): Cause[] {
  const { patchType } = mutation;
  if (patchType === '') return [requiredValue(`${path}.patchType`)];
  if (patchType !== 'ApplyConfiguration' && patchType !== 'JSONPatch')
    return oneOf(`${path}.patchType`, patchType, Object.keys(patchForms));
  const form = patchForms[patchType];
  const other = form === 'jsonPatch' ? 'applyConfiguration' : 'jsonPatch';
  const given = mutation[form];
  return [
    ...(mutation[other] === undefined
      ? []
      : [forbiddenValue(`${path}.${other}`, `must not specify ${other} when patchType is ${patchType}`)]),
    ...(given === undefined
      ? [requiredValue(`${path}.${form}`, `must be specified when patchType is ${patchType}`)]
      : expressionCauses(given.expression, `${path}.${form}.expression`)),
  ];
}

function bindingCauses({
  policyName = '',
  paramRef,
  matchResources,
}: NonNullable<MutatingAdmissionPolicyBinding['spec']>): Cause[] {
  return [
    ...(policyName === ''
      ? [requiredValue('spec.policyName')]
      : invalidUnless('spec.policyName', policyName, checkName('subdomain', policyName))),
    ...paramRefCauses(paramRef, 'spec.paramRef'),
    ...matchResourcesCauses(matchResources, 'spec.matchResources'),
  ];
}

function paramRefCauses(params: ParamRef | undefined, path: string): Cause[] {
  if (params === undefined) return [];
  const { name = '', selector, parameterNotFoundAction: action } = params;
  const both = 'name and selector are mutually exclusive';
  return [
    ...(name === '' ? [] : invalidUnless(`${path}.name`, name, checkName('pathSegment', name))),
    ...(name !== '' && selector !== undefined ? [forbiddenValue(`${path}.name`, both)] : []),
    ...(name === '' && selector === undefined
      ? [requiredValue(path, 'one of name or selector must be specified')]
      : []),
    ...labelSelectorCauses(selector, `${path}.selector`),
    ...(action === undefined
      ? [requiredValue(`${path}.parameterNotFoundAction`)]
      : oneOf(`${path}.parameterNotFoundAction`, action, ['Allow', 'Deny'])),
  ];
}

/** The causes why a binding of a policy that changes objects is invalid. */
export function mutatingBindingCauses({ spec = {} }: MutatingAdmissionPolicyBinding): Cause[] {
  return bindingCauses(spec);
}

/** The causes why a binding of a policy that validates is invalid. */
export function validatingBindingCauses({ spec = {} }: ValidatingAdmissionPolicyBinding): Cause[] {
  const { validationActions: chosen = [] } = spec;
  const field = 'spec.validationActions';
  return [
    ...bindingCauses(spec),
    ...causesOf(chosen, (action, index) => [
      ...oneOf(`${field}[${index}]`, action, actions),
      ...(chosen.indexOf(action) < index ? [duplicateValue(`${field}[${index}]`, action)] : []),
    ]),
    ...(chosen.includes('Deny') && chosen.includes('Warn')
      ? [
          invalidValue(
            field,
            chosen,
            'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
          ),
        ]
      : []),
    ...(chosen.length === 0 ? [requiredValue(field, 'at least one validation action is required')] : []),
  ];
}
