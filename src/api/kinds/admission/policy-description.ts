import type { Infer } from '../../schema/index.ts';
import { field, int64, list, required, string, struct } from '../../schema/index.ts';
import { objectStruct } from '../define.ts';
import { condition } from '../meta/condition.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { keyed } from '../pod-spec/merge.ts';
import { pointer } from '../pod-spec/wire.ts';
import { matchConditions, matchResources } from './description.ts';

const paramKind = struct(
  'ParamKind',
  {
    apiVersion: field(1, string, 'Group and version of the parameters.'),
    kind: field(2, string, 'Kind of the parameters.'),
  },
  { atomic: true },
);

const paramRef = struct(
  'ParamRef',
  {
    name: field(1, string, 'Name of the parameters.'),
    namespace: field(2, string, 'Namespace of the parameters.'),
    selector: field(3, labelSelector, 'Labels of the parameters, in place of a name.'),
    parameterNotFoundAction: field(4, string, 'Allow or Deny: what it means that there are none.', pointer),
  },
  { atomic: true },
);

export interface ParamKind extends Infer<typeof paramKind> {}
export interface ParamRef extends Infer<typeof paramRef> {}

const variable = struct(
  'Variable',
  {
    name: required(1, string, 'Name of the variable.'),
    expression: required(2, string, 'Its value, in CEL.'),
  },
  { atomic: true },
);

const validation = struct('Validation', {
  expression: required(1, string, 'What must be true, in CEL.'),
  message: field(2, string, 'What is said when it is not.'),
  reason: field(3, string, 'Why it is refused, for programs: Forbidden, Invalid …', pointer),
  messageExpression: field(4, string, 'What is said when it is not, in CEL.'),
});

const auditAnnotation = struct('AuditAnnotation', {
  key: required(1, string, 'Key of the annotation.'),
  valueExpression: required(2, string, 'Its value, in CEL.'),
});

const validatingSpec = struct('ValidatingAdmissionPolicySpec', {
  paramKind: field(1, paramKind, 'Of which kind the parameters are.'),
  matchConstraints: field(2, matchResources, 'Which requests it is about.'),
  validations: field(3, list(validation), 'What must be true.'),
  failurePolicy: field(4, string, 'Ignore or Fail: what an error means.', pointer),
  auditAnnotations: field(5, list(auditAnnotation), 'What is written into the audit log.'),
  matchConditions: field(6, matchConditions, 'Further conditions of a request.'),
  variables: field(7, list(variable, keyed('name')), 'Values that the expressions share.'),
});

const expressionWarning = struct('ExpressionWarning', {
  fieldRef: required(2, string, 'The field with the expression.'),
  warning: required(3, string, 'What is wrong.'),
});

const typeChecking = struct('TypeChecking', {
  expressionWarnings: field(1, list(expressionWarning), 'Expressions that do not fit the types.'),
});

const validatingStatus = struct('ValidatingAdmissionPolicyStatus', {
  observedGeneration: field(1, int64, 'The generation that the state was found out of.'),
  typeChecking: field(2, typeChecking, 'What was found wrong with the types.'),
  conditions: field(3, list(condition, { list: 'map', keys: ['type'] }), 'Conditions of the object.'),
});

export const validatingPolicyRoot = objectStruct('ValidatingAdmissionPolicy', {
  spec: field(2, validatingSpec, 'Desired state.', { default: {} }),
  status: field(3, validatingStatus, 'Observed state.', { default: {} }),
});

const jsonPatch = struct('JSONPatch', { expression: field(1, string, 'The patch, in CEL.') });
const applyConfiguration = struct('ApplyConfiguration', {
  expression: field(1, string, 'What is applied, in CEL.'),
});

const mutation = struct('Mutation', {
  patchType: required(2, string, 'ApplyConfiguration or JSONPatch.'),
  applyConfiguration: field(3, applyConfiguration, 'What is applied.'),
  jsonPatch: field(4, jsonPatch, 'What is patched.'),
});

const mutatingSpec = struct('MutatingAdmissionPolicySpec', {
  paramKind: field(1, paramKind, 'Of which kind the parameters are.'),
  matchConstraints: field(2, matchResources, 'Which requests it is about.'),
  variables: field(3, list(variable), 'Values that the expressions share.'),
  mutations: field(4, list(mutation), 'What is changed.'),
  failurePolicy: field(5, string, 'Ignore or Fail: what an error means.', pointer),
  matchConditions: field(6, matchConditions, 'Further conditions of a request.'),
  reinvocationPolicy: field(7, string, 'Never or IfNeeded: whether it is asked again after others.'),
});

export const mutatingPolicyRoot = objectStruct('MutatingAdmissionPolicy', {
  spec: field(2, mutatingSpec, 'Desired state.', { default: {} }),
});

const bindingFields = {
  policyName: field(1, string, 'Name of the policy.'),
  paramRef: field(2, paramRef, 'Its parameters.'),
  matchResources: field(3, matchResources, 'Which requests, beside what the policy says.'),
};

export const validatingBindingRoot = objectStruct('ValidatingAdmissionPolicyBinding', {
  spec: field(
    2,
    struct('ValidatingAdmissionPolicyBindingSpec', {
      ...bindingFields,
      validationActions: field(4, list(string, { list: 'set' }), 'Deny, Warn, Audit.'),
    }),
    'Desired state.',
    { default: {} },
  ),
});

export const mutatingBindingRoot = objectStruct('MutatingAdmissionPolicyBinding', {
  spec: field(2, struct('MutatingAdmissionPolicyBindingSpec', bindingFields), 'Desired state.', {
    default: {},
  }),
});

export interface ValidatingAdmissionPolicy extends Infer<typeof validatingPolicyRoot> {}
export interface MutatingAdmissionPolicy extends Infer<typeof mutatingPolicyRoot> {}
export interface ValidatingAdmissionPolicyBinding extends Infer<typeof validatingBindingRoot> {}
export interface MutatingAdmissionPolicyBinding extends Infer<typeof mutatingBindingRoot> {}
