import type { PolicyRule } from '../../../api/index.ts';
import { CompiledRules } from './compiled-rules.ts';

/** A right that cannot be taken apart further: one verb on one resource of one group, perhaps of one name, or one path. */
type Right =
  | { verb: string; group: string; resource: string; name: string | undefined }
  | { verb: string; path: string };

/** Rules that would fall into more rights than this cannot be compared in reasonable time. */
const mostRights = 100_000;

/**
 * What of `wanted` nobody has by `held`, as few rules; empty when all of it is held. `tooMany` when that cannot be said
 * because there are too many combinations.
 */
export function uncovered(
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
): readonly PolicyRule[] | 'tooMany' {
  if (wanted.reduce((count, rule) => count + countOf(rule), 0) > mostRights) return 'tooMany';
  const compiled = new CompiledRules(held);
  const missing = new Map<string, PolicyRule>();
  for (const rule of wanted) {
    for (const right of rightsIn(rule)) if (!isHeld(compiled, right)) note(missing, right);
  }
  return [...missing.values()];
}

function isHeld(held: CompiledRules, right: Right): boolean {
  if ('path' in right) return held.allowsPath(right);
  const slash = right.resource.indexOf('/');
  return held.allowsResource({
    ...right,
    anyResource: slash === -1 ? '' : `*${right.resource.slice(slash)}`,
  });
}

function countOf(rule: PolicyRule): number {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const names = Math.max(1, resourceNames.length);
  return verbs.length * (apiGroups.length * resources.length * names + nonResourceURLs.length);
}

function* rightsIn(rule: PolicyRule): Generator<Right> {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const names = resourceNames.length === 0 ? [undefined] : resourceNames;
  for (const verb of verbs) {
    for (const path of nonResourceURLs) yield { verb, path };
    for (const group of apiGroups) {
      for (const resource of resources) for (const name of names) yield { verb, group, resource, name };
    }
  }
}

/** Rights that differ by their verb alone are one rule. */
function note(missing: Map<string, PolicyRule>, right: Right): void {
  const { verb, ...target } = right;
  const key = JSON.stringify(target);
  const known = missing.get(key);
  if (known === undefined) missing.set(key, ruleOf(right));
  else if (!known.verbs.includes(verb)) known.verbs.push(verb);
}

function ruleOf(right: Right): PolicyRule {
  const verbs = [right.verb];
  if ('path' in right) return { verbs, nonResourceURLs: [right.path] };
  const { group, resource, name } = right;
  const names = name === undefined ? {} : { resourceNames: [name] };
  return { verbs, apiGroups: [group], resources: [resource], ...names };
}
