import { checkName } from '../../names/index.ts';
import {
  causesOf,
  duplicateValue,
  forbiddenValue,
  invalidUnless,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from '../cause.ts';
import type { Cause } from '../kind.ts';
import type { FlowRules, FlowSchema, FlowSubject } from './description.ts';

const maxPrecedence = 10_000;
const methods = ['ByNamespace', 'ByUser'];
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

/** The causes why a schema is invalid. */
export function flowSchemaCauses({ metadata, spec, status }: FlowSchema): Cause[] {
  if (spec === undefined)
    return [requiredValue('spec.priorityLevelConfiguration.name', 'must reference a priority level')];
  const { matchingPrecedence: precedence = 0, distinguisherMethod: method } = spec;
  const { name: level = '' } = spec.priorityLevelConfiguration ?? {};
  const field = 'spec.matchingPrecedence';
  return [
    ...(precedence <= 0 ? [invalidValue(field, precedence, 'must be a positive value')] : []),
    ...(precedence > maxPrecedence
      ? [invalidValue(field, precedence, `must not be greater than ${maxPrecedence}`)]
      : []),
    ...(precedence === 1 && metadata?.name !== 'exempt'
      ? [invalidValue(field, precedence, "only the schema named 'exempt' may have matchingPrecedence 1")]
      : []),
    ...(method === undefined || methods.includes(method.type)
      ? []
      : [unsupportedValue('spec.distinguisherMethod.type', method.type, methods)]),
    ...(level === ''
      ? [requiredValue('spec.priorityLevelConfiguration.name', 'must reference a priority level')]
      : invalidUnless('spec.priorityLevelConfiguration.name', level, checkName('subdomain', level))),
    ...causesOf(spec.rules, (rules, index) => rulesCauses(rules, `spec.rules[${index}]`)),
    ...conditionTypeCauses(status?.conditions),
  ];
}

/** Each condition has a type, and one of its own. */
export function conditionTypeCauses(conditions: readonly { type?: string }[] = []): Cause[] {
  const earlier = new Set<string>();
  return causesOf(conditions, ({ type = '' }, index) => {
    const field = `status.conditions[${index}].type`;
    const isAgain = earlier.has(type);
    earlier.add(type);
    return [
      ...(isAgain ? [duplicateValue(field, type)] : []),
      ...(type === '' ? [requiredValue(field, 'must not be empty')] : []),
    ];
  });
}

function rulesCauses(
  { subjects = [], resourceRules = [], nonResourceRules = [] }: FlowRules,
  path: string,
): Cause[] {
  return [
    ...(subjects.length === 0
      ? [requiredValue(`${path}.subjects`, 'subjects must contain at least one value')]
      : []),
    ...causesOf(subjects, (subject, index) => subjectCauses(subject, `${path}.subjects[${index}]`)),
    ...(resourceRules.length + nonResourceRules.length === 0
      ? [requiredValue(path, 'at least one of resourceRules and nonResourceRules has to be non-empty')]
      : []),
    ...causesOf(resourceRules, (rule, index) => resourceCauses(rule, `${path}.resourceRules[${index}]`)),
    ...causesOf(nonResourceRules, (rule, index) => pathCauses(rule, `${path}.nonResourceRules[${index}]`)),
  ];
}

const members = { User: 'user', Group: 'group', ServiceAccount: 'serviceAccount' } as const;

function subjectCauses(subject: FlowSubject, path: string): Cause[] {
  const { kind } = subject;
  if (kind !== 'User' && kind !== 'Group' && kind !== 'ServiceAccount')
    return [unsupportedValue(`${path}.kind`, kind, Object.keys(members).sort())];
  const own = members[kind];
  const others = Object.entries(members).filter(
    ([, member]) => member !== own && subject[member] !== undefined,
  );
  return [
    ...memberCauses(subject, kind, `${path}.${own}`),
    ...others.map(([other, member]) =>
      forbiddenValue(`${path}.${member}`, `${member} is forbidden when subject kind is not '${other}'`),
    ),
  ];
}

function memberCauses(subject: FlowSubject, kind: keyof typeof members, field: string): Cause[] {
  const own = subject[members[kind]];
  if (own === undefined)
    return [requiredValue(field, `${members[kind]} is required when subject kind is '${kind}'`)];
  const { serviceAccount } = subject;
  const name = own.name === '' ? [requiredValue(`${field}.name`)] : [];
  if (kind !== 'ServiceAccount' || serviceAccount === undefined) return name;
  const { name: account, namespace } = serviceAccount;
  return [
    ...name,
    ...(account === '' || account === '*'
      ? []
      : invalidUnless(`${field}.name`, account, checkName('subdomain', account))),
    ...(namespace === ''
      ? [requiredValue(`${field}.namespace`, 'must specify namespace for service account')]
      : invalidUnless(`${field}.namespace`, namespace, checkName('label', namespace))),
  ];
}

/** Something must be there, and what stands for all stands alone. */
function listCauses(field: string, values: readonly string[], missing: string, others: string): Cause[] {
  if (values.length === 0) return [requiredValue(field, missing)];
  if (values.length === 1 || !values.includes('*')) return [];
  return [invalidValue(field, values, `if '*' is present, must not specify other ${others}`)];
}

function verbCauses(given: readonly string[] = [], field: string): Cause[] {
  const isKnown = given.includes('*') || given.every((verb) => verbs.includes(verb));
  return [
    ...listCauses(field, given, 'verbs must contain at least one value', 'verbs'),
    ...(isKnown ? [] : [unsupportedValue(field, given, verbs)]),
  ];
}

function resourceCauses(rule: NonNullable<FlowRules['resourceRules']>[number], path: string): Cause[] {
  const { apiGroups = [], resources = [], namespaces = [], clusterScope = false } = rule;
  const missing = 'resource rules that are not cluster scoped must supply at least one namespace';
  return [
    ...verbCauses(rule.verbs, `${path}.verbs`),
    ...listCauses(
      `${path}.apiGroups`,
      apiGroups,
      'resource rules must supply at least one api group',
      'api groups',
    ),
    ...listCauses(
      `${path}.resources`,
      resources,
      'resource rules must supply at least one resource',
      'resources',
    ),
    ...(namespaces.length === 0 && clusterScope
      ? []
      : listCauses(`${path}.namespaces`, namespaces, missing, 'namespaces')),
    ...(namespaces.includes('*')
      ? []
      : causesOf(namespaces, (namespace, index) => {
          const wrong = checkName('label', namespace);
          const field = `${path}.namespaces[${index}]`;
          return wrong === undefined
            ? []
            : [
                invalidValue(
                  field,
                  namespace,
                  `each member of this list must be '*' or a DNS-1123 label; ${wrong}`,
                ),
              ];
        })),
  ];
}

function pathCauses(rule: NonNullable<FlowRules['nonResourceRules']>[number], path: string): Cause[] {
  const { nonResourceURLs: paths = [] } = rule;
  const field = `${path}.nonResourceURLs`;
  return [
    ...verbCauses(rule.verbs, `${path}.verbs`),
    ...listCauses(field, paths, 'nonResourceURLs must contain at least one value', 'non-resource URLs'),
    ...(paths.includes('*')
      ? []
      : causesOf(paths, (each, index) => invalidUnless(`${field}[${index}]`, each, checkPath(each)))),
  ];
}

function checkPath(path: string): string | undefined {
  if (path === '') return 'must not be empty';
  if (path === '/') return undefined;
  if (!path.startsWith('/')) return 'must start with slash';
  if (path.includes(' ')) return 'must not contain white-space';
  if (path.includes('//')) return 'must not contain double slash';
  const wildcard = path.indexOf('*');
  const isSuffix = wildcard < 0 || (wildcard === path.length - 1 && path.endsWith('/*'));
  return isSuffix ? undefined : 'wildcard can only do suffix matching';
}
