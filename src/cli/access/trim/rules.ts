import type { AccessNamespaceRules, PolicyRule } from '../../../api/index.ts';
import type { Use, UsedPath, UsedRight } from './use.ts';

type Authz = typeof import('../../../apiserver/authz/index.ts');

/** The rules of one namespace; an empty one stands for the cluster. */
export interface PlaceRules {
  namespace: string;
  rules: PolicyRule[];
}

/** More paths below the same first part than this become one rule for all that is below it. */
const mostPaths = 10;

export function ruleOf({ verb, group, resource, subresource, names }: UsedRight): PolicyRule {
  return {
    verbs: [verb],
    apiGroups: [group],
    resources: [subresource === '' ? resource : `${resource}/${subresource}`],
    ...(names === undefined ? {} : { resourceNames: [...names].sort() }),
  };
}

/** What somebody has by such an answer in a namespace, or in the cluster alone where that is empty. */
export function rulesIn(answer: readonly AccessNamespaceRules[], namespace: string): PolicyRule[] {
  return answer
    .filter(({ namespace: place = '' }) => place === '' || place === namespace)
    .flatMap(({ resourceRules = [], nonResourceRules = [] }) => [...resourceRules, ...nonResourceRules]);
}

/**
 * The least that covers what was used, by namespace: in the cluster what was done there or across all namespaces, in a
 * namespace what that does not cover. What `common` gives is left out, and counted.
 */
export function leastRules(
  use: Use,
  common: readonly AccessNamespaceRules[],
  authz: Authz,
): { places: PlaceRules[]; leftOut: number } {
  const covers = (held: readonly PolicyRule[], rule: PolicyRule) => {
    const missing = authz.uncovered(held, [rule]);
    return missing !== 'tooMany' && missing.length === 0;
  };
  const everybodys = rulesIn(common, '');
  const rights = use.rights.filter((right) => !covers(everybodys, ruleOf(right)));
  const paths = use.paths.filter(({ verb, path }) => {
    return !covers(everybodys, { verbs: [verb], nonResourceURLs: [path] });
  });
  const leftOut = use.rights.length + use.paths.length - rights.length - paths.length;
  const ofCluster = compactResources(rights.filter(({ namespace }) => namespace === '').map(ruleOf), authz);
  const ofPaths = authz.compactNonResourceRules(pathRules(paths));
  const places = [{ namespace: '', rules: [...ofCluster, ...ofPaths] }];
  const namespaces = new Set(rights.map(({ namespace }) => namespace).filter((name) => name !== ''));
  for (const namespace of [...namespaces].sort()) {
    const own = rights.filter((right) => right.namespace === namespace).map(ruleOf);
    const left = own.filter((rule) => !covers(ofCluster, rule));
    places.push({ namespace, rules: compactResources(left, authz) });
  }
  return { places: places.filter(({ rules }) => rules.length > 0), leftOut };
}

function compactResources(rules: readonly PolicyRule[], { compactResourceRules }: Authz): PolicyRule[] {
  const sorted = rules.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return compactResourceRules(sorted);
}

function pathRules(paths: readonly UsedPath[]): { verbs: string[]; nonResourceURLs: string[] }[] {
  const groups = Map.groupBy(paths, ({ verb, path }) => `${verb} ${firstPart(path)}`);
  const found = [...groups.values()].flatMap((some) => {
    const [first] = some;
    if (first === undefined) return [];
    const isMany = some.length > mostPaths;
    const urls = isMany
      ? [firstPart(first.path), `${firstPart(first.path)}/*`]
      : some.map(({ path }) => path);
    return urls.sort().map((url) => ({ verbs: [first.verb], nonResourceURLs: [url] }));
  });
  return found;
}

/** `/openapi` of `/openapi/v3/apis`. */
function firstPart(path: string): string {
  return /^\/[^/]*/.exec(path)?.[0] ?? path;
}
