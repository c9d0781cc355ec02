import { checkName } from '../../names/index.ts';
import { forbiddenValue, invalidUnless, invalidValue, requiredValue, unsupportedValue } from '../cause.ts';
import { ageColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import type { IngressClass, IngressClassSpec } from './description.ts';
import { ingressClassRoot } from './description.ts';

const controllerLimit = 250;

function validate({ spec = {} }: IngressClass, old: IngressClass | undefined): Cause[] {
  const { controller = '', parameters } = spec;
  const field = 'spec.controller';
  const isChanged = old !== undefined && controller !== (old.spec?.controller ?? '');
  return [
    ...(controller.length > controllerLimit
      ? [
          {
            reason: 'FieldValueTooLong',
            field,
            message: `Too long: may not be more than ${controllerLimit} bytes`,
          } as const,
        ]
      : []),
    ...(controller === ''
      ? [requiredValue(field)]
      : controller.includes('/')
        ? invalidUnless(field, controller, checkName('subdomain', controller.split('/', 1)[0] ?? ''))
        : [invalidValue(field, controller, 'must be a domain-prefixed path (such as "acme.io/foo")')]),
    ...(parameters === undefined ? [] : parameterCauses(parameters)),
    ...(isChanged ? [invalidValue(field, controller, 'field is immutable')] : []),
  ];
}

function parameterCauses(parameters: NonNullable<IngressClassSpec['parameters']>): Cause[] {
  const { kind, name, scope, namespace } = parameters;
  const field = 'spec.parameters';
  const scopes = ['Cluster', 'Namespace'];
  return [
    ...(kind === '' ? [requiredValue(`${field}.kind`, 'kind is required')] : []),
    ...(name === '' ? [requiredValue(`${field}.name`, 'name is required')] : []),
    ...(scope === undefined ? [requiredValue(`${field}.scope`)] : []),
    ...(scope === undefined || scopes.includes(scope)
      ? []
      : [unsupportedValue(`${field}.scope`, scope, scopes)]),
    ...(scope === 'Namespace' && !namespace
      ? [requiredValue(`${field}.namespace`, "`parameters.scope` is set to 'Namespace'")]
      : []),
    ...(scope === 'Cluster' && namespace !== undefined
      ? [forbiddenValue(`${field}.namespace`, "`parameters.scope` is set to 'Cluster'")]
      : []),
  ];
}

/** Without a scope, the object with the settings is one of the cluster. */
function withDefaults(ingressClass: IngressClass): IngressClass {
  const { spec } = ingressClass;
  if (spec?.parameters === undefined || spec.parameters.scope !== undefined) return ingressClass;
  return { ...ingressClass, spec: { ...spec, parameters: { ...spec.parameters, scope: 'Cluster' } } };
}

function parametersText({ spec }: IngressClass): string {
  const { parameters } = spec ?? {};
  if (parameters === undefined) return '<none>';
  const { apiGroup, kind, name } = parameters;
  return `${kind}${apiGroup === undefined ? '' : `.${apiGroup}`}/${name}`;
}

/** An implementation of ingresses. */
export const ingressClassKind = defineKind<IngressClass>({
  group: 'networking',
  version: 'v1',
  kind: 'IngressClass',
  doc: 'An implementation of ingresses, which they name.',
  resource: 'ingressclasses',
  singular: 'ingressclass',
  namespaced: false,
  generation: 'spec',
  root: ingressClassRoot,
  default: withDefaults,
  validate,
  columns: [
    textColumn('Controller', 0, 'Which controller serves the class.', ({ spec }) => spec?.controller ?? ''),
    textColumn('Parameters', 0, 'An object with more settings.', parametersText),
    ageColumn,
  ],
});
