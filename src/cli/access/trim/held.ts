import type { AccessNamespaceRules, PolicyRule } from '../../../api/index.ts';
import type { PlaceRules } from './rules.ts';
import { rulesIn } from './rules.ts';
import type { Use } from './use.ts';

type Authz = typeof import('../../../apiserver/authz/index.ts');

/** What a subject holds, against what it used. */
export interface HeldAgainstUse {
  /** Rights of which nothing was used. */
  unused: PlaceRules[];
  /** Rights with a `*` of which something was used, and not all can have been. */
  wider: PlaceRules[];
  /** Whether it holds more rights than were looked at. */
  isCut: boolean;
}

/** So many single rights are compared with what was used. */
const maxRights = 5_000;

/** Compares what is held with what was used. What `common` gives is not told: everybody has it. */
export function heldAgainstUse(
  held: readonly AccessNamespaceRules[],
  common: readonly AccessNamespaceRules[],
  use: Use,
  authz: Authz,
): HeldAgainstUse {
  const unused: PlaceRules[] = [];
  const wider: PlaceRules[] = [];
  const everybodys = rulesIn(common, '');
  const isUsed = usedBy(use, authz);
  let left = maxRights;
  for (const { namespace = '', resourceRules = [], nonResourceRules = [] } of held) {
    const rights = [...resourceRules, ...nonResourceRules].flatMap(singleRights);
    const own = rights.filter((right) => authz.uncovered(everybodys, [right]).length > 0);
    const looked = own.slice(0, left);
    left -= looked.length;
    const compact = (rules: readonly PolicyRule[]) => [
      ...authz.compactResourceRules(rules.filter(isForResources)),
      ...authz.compactNonResourceRules(rules.filter((rule) => !isForResources(rule)).map(paths)),
    ];
    unused.push({ namespace, rules: compact(looked.filter((right) => !isUsed(namespace, right))) });
    wider.push({
      namespace,
      rules: compact(looked.filter((right) => isWide(right) && isUsed(namespace, right))),
    });
  }
  const told = (places: PlaceRules[]) => places.filter(({ rules }) => rules.length > 0);
  return { unused: told(unused), wider: told(wider), isCut: left <= 0 };
}

/** Whether anything that was used falls under a right that is held in a namespace, or everywhere. */
function usedBy(
  use: Use,
  { CompiledRules, questionOf }: Authz,
): (namespace: string, right: PolicyRule) => boolean {
  const used = use.rights.flatMap((right) => {
    const { names, ...asked } = right;
    const each = names === undefined ? [''] : [...names];
    return each.map((name) => ({
      namespace: asked.namespace,
      question: questionOf({ ...asked, name, version: '*' }),
    }));
  });
  const usedPaths = use.paths.map((asked) => ({ namespace: '', question: questionOf(asked) }));
  const all = [...used, ...usedPaths];
  return (namespace, right) => {
    const rules = new CompiledRules([right]);
    return all.some(
      ({ namespace: place, question }) =>
        (namespace === '' || namespace === place) && question.isAllowedBy(rules),
    );
  };
}

function singleRights({
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

function paths({ verbs, nonResourceURLs = [] }: PolicyRule) {
  return { verbs, nonResourceURLs };
}

function isWide({ verbs, apiGroups = [], resources = [], nonResourceURLs = [] }: PolicyRule): boolean {
  return [...verbs, ...apiGroups, ...resources, ...nonResourceURLs].some(
    (value) => value.endsWith('*') || value.startsWith('*/'),
  );
}
