import type { AccessNamespaceRules, PolicyRule } from '../../../api/index.ts';
import type { NamespaceRules } from './roles.ts';
import { rulesFor } from './roles.ts';
import type { Usage } from './usage.ts';

type Authz = typeof import('../../../apiserver/authz/index.ts');

/** The rights that a subject has, compared with those that it used. */
interface RightsComparison {
  /** Rights that were not used at all. */
  unused: NamespaceRules[];
  /** Rights with a `*` that were used: they allow more than was used. */
  wider: NamespaceRules[];
  /** Whether it has more rights than were compared. */
  isTruncated: boolean;
}

/** Single rights that are compared. */
const maxRights = 5_000;

/** Compares rights with their usage. Rights in `common`, which everybody has, are left out. */
export function compareRights(
  held: readonly AccessNamespaceRules[],
  common: readonly AccessNamespaceRules[],
  usage: Usage,
  authz: Authz,
): RightsComparison {
  const unused: NamespaceRules[] = [];
  const wider: NamespaceRules[] = [];
  const commonRules = rulesFor(common, '');
  const isUsed = createUsageCheck(usage, authz);
  let left = maxRights;
  for (const { namespace = '', resourceRules = [], nonResourceRules = [] } of held) {
    const rights = [...resourceRules, ...nonResourceRules].flatMap(splitRule);
    const own = rights.filter((right) => authz.findMissingRules(commonRules, [right]).length > 0);
    const compared = own.slice(0, left);
    left -= compared.length;
    const compact = (rules: readonly PolicyRule[]) => [
      ...authz.compactResourceRules(rules.filter(isForResources)),
      ...authz.compactNonResourceRules(rules.filter((rule) => !isForResources(rule)).map(toPathRule)),
    ];
    unused.push({ namespace, rules: compact(compared.filter((right) => !isUsed(namespace, right))) });
    wider.push({
      namespace,
      rules: compact(compared.filter((right) => hasWildcard(right) && isUsed(namespace, right))),
    });
  }
  return { unused: withoutEmpty(unused), wider: withoutEmpty(wider), isTruncated: left <= 0 };
}

function withoutEmpty(all: readonly NamespaceRules[]): NamespaceRules[] {
  return all.filter(({ rules }) => rules.length > 0);
}

/** Returns a check whether a right in a namespace (empty: everywhere) allows something that was used. */
function createUsageCheck(
  usage: Usage,
  { CompiledRules, questionOf }: Authz,
): (namespace: string, right: PolicyRule) => boolean {
  const used = usage.rights.flatMap((right) => {
    const { names, ...asked } = right;
    const each = names === undefined ? [''] : [...names];
    return each.map((name) => ({
      namespace: asked.namespace,
      question: questionOf({ ...asked, name, version: '*' }),
    }));
  });
  const usedPaths = usage.paths.map((asked) => ({ namespace: '', question: questionOf(asked) }));
  const all = [...used, ...usedPaths];
  return (namespace, right) => {
    const rules = new CompiledRules([right]);
    return all.some(
      ({ namespace: each, question }) =>
        (namespace === '' || namespace === each) && question.isAllowedBy(rules),
    );
  };
}

/** One rule for each verb and resource or path. */
function splitRule({
  verbs,
  apiGroups = [],
  resources = [],
  resourceNames,
  nonResourceURLs = [],
}: PolicyRule) {
  const names = resourceNames === undefined || resourceNames.length === 0 ? {} : { resourceNames };
  return verbs.flatMap((verb): PolicyRule[] => [
    ...apiGroups.flatMap((group) =>
      resources.map((resource) => ({ verbs: [verb], apiGroups: [group], resources: [resource], ...names })),
    ),
    ...nonResourceURLs.map((url) => ({ verbs: [verb], nonResourceURLs: [url] })),
  ]);
}

function isForResources({ resources = [] }: PolicyRule): boolean {
  return resources.length > 0;
}

function toPathRule({ verbs, nonResourceURLs = [] }: PolicyRule) {
  return { verbs, nonResourceURLs };
}

function hasWildcard({ verbs, apiGroups = [], resources = [], nonResourceURLs = [] }: PolicyRule): boolean {
  return [...verbs, ...apiGroups, ...resources, ...nonResourceURLs].some(
    (value) => value.endsWith('*') || value.startsWith('*/'),
  );
}
