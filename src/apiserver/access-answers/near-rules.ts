import type { PolicyRule } from '../../api/index.ts';
import { servedKinds } from '../../api/index.ts';
import type { Attributes } from '../authz/index.ts';
import { CompiledRules, questionOf } from '../authz/index.ts';
import type { MissReason } from './near-miss-search.ts';

type ResourceAttributes = Extract<Attributes, { resource: string }>;

export interface RuleMiss {
  reason: MissReason;
  /** The continuation of a sentence that begins with the role. */
  message: string;
}

/**
 * Finds the only part of a rule that keeps it from allowing what is asked; undefined when there are several, or none. To
 * check a part, the rule is tried with this part allowing everything.
 */
export function findRuleMiss(rule: PolicyRule, asked: Attributes): RuleMiss | undefined {
  const question = questionOf(asked);
  const fits = (change: Partial<PolicyRule>) =>
    question.isAllowedBy(new CompiledRules([{ ...rule, ...change }]));
  if (fits({})) return undefined;
  if (fits({ verbs: ['*'] })) return explainVerbMiss(rule, asked.verb);
  if ('path' in asked)
    return fits({ nonResourceURLs: ['*'] }) ? explainPathMiss(rule, asked.path) : undefined;
  if ((rule.resources ?? []).length === 0) return undefined;
  if (fits({ apiGroups: ['*'] })) return explainGroupMiss(rule, asked);
  if (fits({ resources: ['*'] })) return explainResourceMiss(rule, asked);
  return fits({ resourceNames: [] }) ? explainNameMiss(rule, asked) : undefined;
}

function explainVerbMiss({ verbs }: PolicyRule, verb: string): RuleMiss {
  const other = verbs.find((each) => each.toLowerCase() === verb.toLowerCase());
  if (other !== undefined) {
    const message = `says ${JSON.stringify(other)}, and verbs must be written alike: ${JSON.stringify(verb)}`;
    return { reason: 'VerbMissing', message };
  }
  return { reason: 'VerbMissing', message: `allows ${formatList(verbs)} of it, not ${verb}` };
}

function explainPathMiss({ nonResourceURLs = [] }: PolicyRule, path: string): RuleMiss | undefined {
  const near = nonResourceURLs.find((url) => trimPathEnd(url) === trimPathEnd(path));
  if (near === undefined) return undefined;
  return { reason: 'OtherPath', message: `allows the path ${near}, not ${path}` };
}

/** Removes a slash and an asterisk at the end, which are easily forgotten. */
function trimPathEnd(path: string): string {
  return path.replace(/\/?\*?$/, '');
}

function explainGroupMiss({ apiGroups = [] }: PolicyRule, { group }: ResourceAttributes): RuleMiss {
  const withVersion = apiGroups.find((each) => withoutVersion(each) === group);
  if (withVersion !== undefined) {
    const right = JSON.stringify(group);
    const message = `names the group ${JSON.stringify(withVersion)}: in rules a group has no version and the core group no name, so it must be ${right}`;
    return { reason: 'GroupWithVersion', message };
  }
  const message = `allows it of ${formatList(apiGroups.map(formatGroup))}, not of ${formatGroup(group)}`;
  return { reason: 'OtherGroup', message };
}

/** The group that `apps/v1`, `v1` or `core` probably means; undefined for a text that can be a group. */
function withoutVersion(group: string): string | undefined {
  if (group === 'core' || /^v\d\w*$/.test(group)) return '';
  return /^([^/]+)\/v\d\w*$/.exec(group)?.[1];
}

function formatGroup(group: string): string {
  return group === '' ? 'the core group' : JSON.stringify(group);
}

function explainResourceMiss(
  { resources = [] }: PolicyRule,
  asked: ResourceAttributes,
): RuleMiss | undefined {
  const { resource, subresource } = asked;
  const wanted = subresource === '' ? resource : `${resource}/${subresource}`;
  const own = resources.filter((each) => each === resource || each.startsWith(`${resource}/`));
  if (subresource !== '' && own.length > 0) {
    const message = `allows it of ${formatList(own)}, which does not include the subresource: name ${wanted}`;
    return { reason: 'SubresourceMissing', message };
  }
  if (own.length > 0) {
    const message = `allows it of ${formatList(own)} only, not of ${resource} itself`;
    return { reason: 'SubresourceOnly', message };
  }
  const near = resources.find((each) => isMeantBy(each, resource, subresource));
  if (near === undefined) return undefined;
  const message = `names ${JSON.stringify(near)}: in rules it must be ${JSON.stringify(wanted)}`;
  return { reason: 'ResourceMisspelt', message };
}

/** Whether a rule names a resource in another case, in the singular, by its kind or by a short name. */
function isMeantBy(ruleResource: string, resource: string, subresource: string): boolean {
  const [name = '', part = ''] = ruleResource.toLowerCase().split('/');
  if (part !== subresource.toLowerCase()) return false;
  if (name === resource.toLowerCase() || `${name}s` === resource.toLowerCase()) return true;
  return servedKinds.some(
    (kind) =>
      kind.resource === resource &&
      (kind.singular === name || kind.shortNames.includes(name) || kind.kind.toLowerCase() === name),
  );
}

function explainNameMiss({ resourceNames = [] }: PolicyRule, asked: ResourceAttributes): RuleMiss {
  const { verb, name, subresource } = asked;
  const limit = `is limited to the names ${formatList(resourceNames)}`;
  const reason = 'ResourceNames';
  if (verb === 'deletecollection' || (verb === 'create' && subresource === ''))
    return { reason, message: `${limit}, and names never allow ${verb}: it takes a rule without them` };
  if (name !== '') return { reason, message: `${limit}, and ${JSON.stringify(name)} is none of them` };
  const how =
    verb === 'list' || verb === 'watch'
      ? 'it allows this with a field selector: metadata.name=NAME'
      : 'it allows this for each of them, not for all';
  return { reason, message: `${limit}: ${how}` };
}

const maxListed = 10;

function formatList(values: readonly string[]): string {
  const text = values.slice(0, maxListed).join(', ');
  return values.length > maxListed ? `${text} and ${values.length - maxListed} more` : text;
}
