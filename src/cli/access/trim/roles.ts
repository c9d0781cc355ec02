import type { AccessNamespaceRules, PolicyRule } from '../../../api/index.ts';
import type { Subject } from '../subject.ts';
import type { Usage, UsedPath, UsedRight } from './usage.ts';

type Authz = typeof import('../../../apiserver/authz/index.ts');

/** The rules in one namespace, or in the cluster if that is empty. */
export interface NamespaceRules {
  namespace: string;
  rules: PolicyRule[];
}

/** More paths with the same first segment become one rule for everything below it. */
const maxPaths = 10;

function toRule({ verb, group, resource, subresource, names }: UsedRight): PolicyRule {
  return {
    verbs: [verb],
    apiGroups: [group],
    resources: [subresource === '' ? resource : `${resource}/${subresource}`],
    ...(names === undefined ? {} : { resourceNames: [...names].sort() }),
  };
}

/** The rules of a subject that apply in a namespace, or in the whole cluster if that is empty. */
export function rulesFor(held: readonly AccessNamespaceRules[], namespace: string): PolicyRule[] {
  return held
    .filter(({ namespace: each = '' }) => each === '' || each === namespace)
    .flatMap(({ resourceRules = [], nonResourceRules = [] }) => [...resourceRules, ...nonResourceRules]);
}

/**
 * The smallest rules that cover what was used. Those of the cluster are for cluster-scoped objects and requests across
 * namespaces; those of a namespace are what the rules of the cluster do not cover. Rights in `common`, which everybody
 * has, are left out and counted.
 */
export function computeMinimalRules(
  usage: Usage,
  common: readonly AccessNamespaceRules[],
  authz: Authz,
): { rules: NamespaceRules[]; leftOut: number } {
  const covers = (held: readonly PolicyRule[], rule: PolicyRule) => {
    const missing = authz.findMissingRules(held, [rule]);
    return missing !== 'tooMany' && missing.length === 0;
  };
  const commonRules = rulesFor(common, '');
  const rights = usage.rights.filter((right) => !covers(commonRules, toRule(right)));
  const paths = usage.paths.filter(({ verb, path }) => {
    return !covers(commonRules, { verbs: [verb], nonResourceURLs: [path] });
  });
  const leftOut = usage.rights.length + usage.paths.length - rights.length - paths.length;
  const rulesUsedIn = (namespace: string) =>
    rights.filter((right) => right.namespace === namespace).map(toRule);
  const clusterRules = compactResources(rulesUsedIn(''), authz);
  const pathRules = authz.compactNonResourceRules(toPathRules(paths));
  const result = [{ namespace: '', rules: [...clusterRules, ...pathRules] }];
  const namespaces = new Set(rights.map(({ namespace }) => namespace).filter((name) => name !== ''));
  for (const namespace of [...namespaces].sort()) {
    const missing = rulesUsedIn(namespace).filter((rule) => !covers(clusterRules, rule));
    result.push({ namespace, rules: compactResources(missing, authz) });
  }
  return { rules: result.filter(({ rules }) => rules.length > 0), leftOut };
}

function compactResources(rules: readonly PolicyRule[], { compactResourceRules }: Authz): PolicyRule[] {
  const sorted = rules.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return compactResourceRules(sorted);
}

function toPathRules(paths: readonly UsedPath[]): { verbs: string[]; nonResourceURLs: string[] }[] {
  const groups = Map.groupBy(paths, ({ verb, path }) => `${verb} ${firstSegment(path)}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const prefix = firstSegment(first.path);
    const urls = group.length > maxPaths ? [prefix, `${prefix}/*`] : group.map(({ path }) => path);
    return urls.sort().map((url) => ({ verbs: [first.verb], nonResourceURLs: [url] }));
  });
}

/** `/openapi` of `/openapi/v3/apis`. */
function firstSegment(path: string): string {
  return /^\/[^/]*/.exec(path)?.[0] ?? path;
}

const rbacGroup = 'rbac.authorization.k8s.io';
const maxSlugLength = 100;

/** Manifests of roles with these rules, and of bindings of the subject to them. */
export function createManifests(
  all: readonly NamespaceRules[],
  subject: Subject,
  name = `trimmed-${toSlug(subject.name)}`,
): object[] {
  return all.flatMap(({ namespace, rules }) => {
    const prefix = namespace === '' ? 'Cluster' : '';
    const metadata = { name, ...(namespace === '' ? {} : { namespace }) };
    const apiVersion = `${rbacGroup}/v1`;
    const role = { apiVersion, kind: `${prefix}Role`, metadata, rules };
    const roleRef = { apiGroup: rbacGroup, kind: role.kind, name };
    const binding = {
      apiVersion,
      kind: `${prefix}RoleBinding`,
      metadata,
      roleRef,
      subjects: [toSubjectReference(subject)],
    };
    return [role, binding];
  });
}

function toSubjectReference({ kind, name }: Subject): object {
  const [, namespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name) ?? [];
  if (kind === 'User' && account !== undefined) return { kind: 'ServiceAccount', namespace, name: account };
  return { apiGroup: rbacGroup, kind, name };
}

/** The name reduced to characters that are valid in the names of objects. */
function toSlug(name: string): string {
  const plain = name
    .slice(0, 4 * maxSlugLength)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxSlugLength)
    .replaceAll(/^-|-$/g, '');
  return plain === '' ? 'role' : plain;
}
