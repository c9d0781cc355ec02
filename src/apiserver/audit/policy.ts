import { isRecord } from '../../api/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import type { AuditLevel, AuditPolicy, AuditStage, AuditSubject, AuditVerdict } from './types.ts';
import { auditLevels, auditStages } from './types.ts';

interface Resources {
  group: string;
  resources: readonly string[];
  resourceNames: readonly string[];
}

interface Rule {
  level: AuditLevel;
  users: readonly string[];
  userGroups: readonly string[];
  verbs: readonly string[];
  resources: readonly Resources[];
  namespaces: readonly string[];
  nonResourceURLs: readonly string[];
  omitStages: ReadonlySet<AuditStage>;
}

/** Resources whose bodies are secrets: recorded only when a rule names them explicitly. */
const secretResources = new Set(['secrets', 'tokenreviews', 'serviceaccounts/token']);

const nothing: AuditVerdict = { level: 'None', omitStages: new Set() };

/**
 * Reads a parsed policy (audit.k8s.io/v1, kind Policy). Throws an ExitError with everything that is wrong, each by its path.
 */
export function readAuditPolicy(value: unknown, path: string): AuditPolicy {
  const reader = new Reader();
  const root = reader.object(value, '', [
    'apiVersion',
    'kind',
    'metadata',
    'omitStages',
    'omitManagedFields',
    'rules',
  ]);
  if (root['apiVersion'] !== 'audit.k8s.io/v1') reader.problem('apiVersion', 'must be audit.k8s.io/v1');
  if (root['kind'] !== 'Policy') reader.problem('kind', 'must be Policy');
  const omitted = reader.choices(root['omitStages'], 'omitStages', auditStages);
  const rules = reader
    .list(root['rules'], 'rules')
    .map((rule, index) => readRule(reader, rule, `rules[${index}]`, omitted));
  if (rules.length === 0) reader.problem('rules', 'must have at least one rule');
  if (reader.problems.length > 0) {
    const all = reader.problems.join('; ');
    throw new ExitError(exitCodes.configuration, `the audit policy ${path} cannot be used: ${all}`);
  }
  return { judge: (subject) => judge(rules, subject) };
}

const ruleFields = [
  'level',
  'users',
  'userGroups',
  'verbs',
  'resources',
  'namespaces',
  'nonResourceURLs',
  'omitStages',
  'omitManagedFields',
];

function readRule(reader: Reader, value: unknown, at: string, omitted: readonly AuditStage[]): Rule {
  const rule = reader.object(value, at, ruleFields);
  const texts = (name: string) => reader.texts(rule[name], `${at}.${name}`);
  const resources = reader
    .list(rule['resources'], `${at}.resources`)
    .map((each, index) => readResources(reader, each, `${at}.resources[${index}]`));
  const nonResourceURLs = texts('nonResourceURLs');
  if (resources.length + texts('namespaces').length > 0 && nonResourceURLs.length > 0) {
    reader.problem(at, 'has nonResourceURLs together with resources or namespaces');
  }
  const [level = 'None'] = reader.choices([rule['level']], `${at}.level`, auditLevels);
  const stages = reader.choices(rule['omitStages'], `${at}.omitStages`, auditStages);
  return {
    level,
    users: texts('users'),
    userGroups: texts('userGroups'),
    verbs: texts('verbs'),
    resources,
    namespaces: texts('namespaces'),
    nonResourceURLs,
    omitStages: new Set([...omitted, ...stages]),
  };
}

function readResources(reader: Reader, value: unknown, at: string): Resources {
  const { group = '', ...rest } = reader.object(value, at, ['group', 'resources', 'resourceNames']);
  if (typeof group !== 'string') reader.problem(`${at}.group`, 'must be a text');
  return {
    group: String(group),
    resources: reader.texts(rest['resources'], `${at}.resources`),
    resourceNames: reader.texts(rest['resourceNames'], `${at}.resourceNames`),
  };
}

/** Reads values of unknown shape and collects what is wrong with them. */
class Reader {
  readonly problems: string[] = [];

  problem(at: string, what: string): void {
    this.problems.push(`${at === '' ? 'it' : at} ${what}`);
  }

  object(value: unknown, at: string, known: readonly string[]): Record<string, unknown> {
    if (!isRecord(value)) {
      this.problem(at, 'must be an object');
      return {};
    }
    for (const name of Object.keys(value)) {
      if (!known.includes(name))
        this.problem(at === '' ? name : `${at}.${name}`, 'is no field of an audit policy');
    }
    return value;
  }

  list(value: unknown, at: string): readonly unknown[] {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value;
    this.problem(at, 'must be a list');
    return [];
  }

  texts(value: unknown, at: string): string[] {
    const list = this.list(value, at);
    if (!list.every((item) => typeof item === 'string')) this.problem(at, 'must have texts only');
    return list.filter((item) => typeof item === 'string');
  }

  choices<const C extends string>(value: unknown, at: string, known: readonly C[]): C[] {
    return this.list(value, at).flatMap((item) => {
      const found = known.find((choice) => choice === item);
      if (found !== undefined) return [found];
      this.problem(at, `must be one of ${known.join(', ')}`);
      return [];
    });
  }
}

function judge(rules: readonly Rule[], subject: AuditSubject): AuditVerdict {
  const rule = rules.find((candidate) => matchesRule(candidate, subject));
  if (rule === undefined) return nothing;
  const { level, omitStages } = rule;
  if (level === 'None' || level === 'Metadata' || !isSecret(subject) || namesSecret(rule))
    return { level, omitStages };
  return { level: 'Metadata', omitStages };
}

function matchesRule(rule: Rule, { user, attributes }: AuditSubject): boolean {
  const among = (list: readonly string[], value: string) => list.length === 0 || list.includes(value);
  if (!among(rule.users, user.name) || !among(rule.verbs, attributes.verb)) return false;
  if (rule.userGroups.length > 0 && !rule.userGroups.some((group) => user.groups.includes(group)))
    return false;
  if (!('resource' in attributes)) {
    if (rule.resources.length + rule.namespaces.length > 0) return false;
    return (
      rule.nonResourceURLs.length === 0 ||
      rule.nonResourceURLs.some((url) => matchesUrl(url, attributes.path))
    );
  }
  if (rule.nonResourceURLs.length > 0 || !among(rule.namespaces, attributes.namespace)) return false;
  return (
    rule.resources.length === 0 || rule.resources.some((resources) => matchesResource(resources, attributes))
  );
}

function matchesUrl(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : pattern === path;
}

type ResourceAttributes = Extract<AuditSubject['attributes'], { resource: string }>;

function matchesResource({ group, resources, resourceNames }: Resources, asked: ResourceAttributes): boolean {
  if (group !== asked.group) return false;
  if (resourceNames.length > 0 && !resourceNames.includes(asked.name)) return false;
  if (resources.length === 0) return true;
  return resources.some((pattern) => matchesPattern(pattern, asked));
}

// `pods`, `pods/log`, `pods/*`, `*`, and `*/log` for the log subresource of every resource
function matchesPattern(pattern: string, { resource, subresource }: ResourceAttributes): boolean {
  if (pattern === '*' || pattern === fullName(resource, subresource)) return true;
  const [of = '', part = ''] = pattern.split('/');
  if (part === '*') return of === resource && subresource !== '';
  return of === '*' && part !== '' && part === subresource;
}

function fullName(resource: string, subresource: string): string {
  return subresource === '' ? resource : `${resource}/${subresource}`;
}

function isSecret({ attributes }: AuditSubject): boolean {
  return (
    'resource' in attributes && secretResources.has(fullName(attributes.resource, attributes.subresource))
  );
}

function namesSecret({ resources }: Rule): boolean {
  return resources.some((each) => each.resources.some((name) => secretResources.has(name)));
}
