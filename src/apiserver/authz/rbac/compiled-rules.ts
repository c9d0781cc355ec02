import type { PolicyRule } from '../../../api/index.ts';
import { everyResource, namedResourceKey, pathsKey } from './rule-keys.ts';

/** The allowed values; undefined means all (`*`). */
type Allowed = ReadonlySet<string> | undefined;

/** The part of a rule that is common to the resources under which it is indexed. */
class ResourceRule {
  readonly #verbs: Allowed;
  readonly #groups: Allowed;
  readonly names: Allowed;

  constructor(verbs: Allowed, groups: Allowed, names: Allowed) {
    this.#verbs = verbs;
    this.#groups = groups;
    this.names = names;
  }

  allows(verb: string, group: string): boolean {
    return has(this.#verbs, verb) && has(this.#groups, group);
  }
}

interface PathRule {
  readonly verbs: Allowed;
  /** The path, or its prefix. */
  readonly path: string;
}

/** A question about a resource. */
export interface ResourceQuestion {
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `pods/log`. */
  readonly resource: string;
  /** The same subresource of every resource, as rules write it: `*` followed by `/log`; empty without a subresource. */
  readonly anyResource: string;
  /** Undefined when the question cannot be about one name: rules that are limited to names do not apply then. */
  readonly name: string | undefined;
}

/** A question about a path that is no resource. */
export interface PathQuestion {
  readonly verb: string;
  readonly path: string;
}

const all = everyResource;

/** The rules of a role, indexed so that the cost of a question grows only with the rules on its resource. */
export class CompiledRules {
  /** The rules as in the role. */
  readonly rules: readonly PolicyRule[];
  readonly #byResource = new Map<string, ResourceRule[]>();
  readonly #byPath = new Map<string, PathRule[]>();
  readonly #byPrefix: PathRule[] = [];

  constructor(rules: readonly PolicyRule[]) {
    this.rules = rules;
    for (const rule of mergeNames(rules)) {
      this.#addResources(rule);
      this.#addPaths(rule);
    }
  }

  /** The keys of all rules (rule-keys.ts), possibly with duplicates. */
  *keys(): Generator<string> {
    for (const [resource, rules] of this.#byResource) {
      for (const { names } of rules) {
        if (names === undefined) yield resource;
        else for (const name of names) yield namedResourceKey(resource, name);
      }
    }
    if (this.#byPath.size > 0) yield pathsKey;
  }

  /** A rule's `*` stands for every resource and subresource; an asterisk before a slash only for every resource. */
  allowsResource(question: ResourceQuestion): boolean {
    const { resource, anyResource } = question;
    return (
      isAllowedByAny(this.#byResource.get(all), question) ||
      isAllowedByAny(this.#byResource.get(resource), question) ||
      (anyResource !== '' && isAllowedByAny(this.#byResource.get(anyResource), question))
    );
  }

  /** The rules that apply to a resource, those for every resource first. */
  *applicableTo(resource: string, anyResource: string): Generator<ResourceRule> {
    yield* this.#byResource.get(all) ?? [];
    if (resource !== all) yield* this.#byResource.get(resource) ?? [];
    if (anyResource !== '' && anyResource !== resource) yield* this.#byResource.get(anyResource) ?? [];
  }

  allowsPath({ verb, path }: PathQuestion): boolean {
    const exact = this.#byPath.get(path);
    if (exact !== undefined) for (const rule of exact) if (has(rule.verbs, verb)) return true;
    for (const rule of this.#byPrefix) if (path.startsWith(rule.path) && has(rule.verbs, verb)) return true;
    return false;
  }

  #addResources({ verbs, apiGroups, resources = [], resourceNames = [] }: PolicyRule): void {
    if (resources.length === 0) return;
    const names = resourceNames.length === 0 ? undefined : new Set(resourceNames);
    const rule = new ResourceRule(toAllowed(verbs), toAllowed(apiGroups), names);
    for (const resource of new Set(resources)) append(this.#byResource, resource, rule);
  }

  #addPaths({ verbs, nonResourceURLs = [] }: PolicyRule): void {
    for (const url of nonResourceURLs) {
      const path = url.replace(/\*+$/, '');
      append(this.#byPath, url, { verbs: toAllowed(verbs), path: url });
      if (path !== url) this.#byPrefix.push({ verbs: toAllowed(verbs), path });
    }
  }
}

/** Merges rules that differ only in the names that they are limited to: there can be a rule for each of many objects. */
function mergeNames(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  if (rules.length < 2) return rules;
  const namesByKey = new Map<string, string[]>();
  const result: PolicyRule[] = [];
  for (const rule of rules) {
    const { verbs, apiGroups, resources, nonResourceURLs, resourceNames = [] } = rule;
    if (resourceNames.length === 0) {
      result.push(rule);
      continue;
    }
    const key = JSON.stringify([verbs, apiGroups, resources, nonResourceURLs]);
    const names = namesByKey.get(key);
    if (names === undefined) {
      const own = [...resourceNames];
      namesByKey.set(key, own);
      result.push({ ...rule, resourceNames: own });
    } else for (const name of resourceNames) names.push(name);
  }
  return result;
}

function isAllowedByAny(
  rules: readonly ResourceRule[] | undefined,
  { verb, group, name }: ResourceQuestion,
): boolean {
  if (rules === undefined) return false;
  for (const rule of rules) {
    const isNamed = rule.names === undefined || (name !== undefined && rule.names.has(name));
    if (isNamed && rule.allows(verb, group)) return true;
  }
  return false;
}

function has(toAllowed: Allowed, value: string): boolean {
  return toAllowed === undefined || toAllowed.has(value);
}

function toAllowed(values: readonly string[] = []): Allowed {
  return values.includes(all) ? undefined : new Set(values);
}

function append<R>(rules: Map<string, R[]>, key: string, rule: R): void {
  const others = rules.get(key);
  if (others === undefined) rules.set(key, [rule]);
  else others.push(rule);
}
