import type { PolicyRule } from '../../../api/index.ts';
import { everyResource, namedTopic, paths } from './topics.ts';

/** What is allowed of something; undefined is all of it (`*`). */
type Allowed = ReadonlySet<string> | undefined;

/** What a rule allows of the resources under which it is found. */
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
  /** The path, or what it begins with. */
  readonly path: string;
}

/** What is asked of rules about a resource. */
export interface ResourceQuestion {
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `pods/log`. */
  readonly resource: string;
  /** The same subresource of whatever resource, as rules write it: an asterisk for the resource; empty without a subresource. */
  readonly anyResource: string;
  /** Undefined when no name can be meant: then a rule for some names does not count. */
  readonly name: string | undefined;
}

/** What is asked of rules about a path that is no resource. */
export interface PathQuestion {
  readonly verb: string;
  readonly path: string;
}

const all = everyResource;

/** The rules of a role in a form in which a question costs as much as there are rules on the resource it is about. */
export class CompiledRules {
  /** As they were given. */
  readonly rules: readonly PolicyRule[];
  readonly #byResource = new Map<string, ResourceRule[]>();
  readonly #byPath = new Map<string, PathRule[]>();
  readonly #byBeginning: PathRule[] = [];

  constructor(rules: readonly PolicyRule[]) {
    this.rules = rules;
    for (const rule of withNamesTogether(rules)) {
      this.#addResources(rule);
      this.#addPaths(rule);
    }
  }

  /** What any of the rules is about; some perhaps twice. */
  *topics(): Generator<string> {
    for (const [resource, rules] of this.#byResource) {
      for (const { names } of rules) {
        if (names === undefined) yield resource;
        else for (const name of names) yield namedTopic(resource, name);
      }
    }
    if (this.#byPath.size > 0) yield paths;
  }

  /** A rule's `*` stands for every resource and subresource; an asterisk before a slash only for every resource. */
  allowsResource(question: ResourceQuestion): boolean {
    const { resource, anyResource } = question;
    return (
      some(this.#byResource.get(all), question) ||
      some(this.#byResource.get(resource), question) ||
      (anyResource !== '' && some(this.#byResource.get(anyResource), question))
    );
  }

  /** The rules that can allow something of a resource, those for every resource first. */
  *about(resource: string, anyResource: string): Generator<ResourceRule> {
    yield* this.#byResource.get(all) ?? [];
    if (resource !== all) yield* this.#byResource.get(resource) ?? [];
    if (anyResource !== '' && anyResource !== resource) yield* this.#byResource.get(anyResource) ?? [];
  }

  allowsPath({ verb, path }: PathQuestion): boolean {
    const exact = this.#byPath.get(path);
    if (exact !== undefined) for (const rule of exact) if (has(rule.verbs, verb)) return true;
    for (const rule of this.#byBeginning)
      if (path.startsWith(rule.path) && has(rule.verbs, verb)) return true;
    return false;
  }

  #addResources({ verbs, apiGroups, resources = [], resourceNames = [] }: PolicyRule): void {
    if (resources.length === 0) return;
    const names = resourceNames.length === 0 ? undefined : new Set(resourceNames);
    const rule = new ResourceRule(allowed(verbs), allowed(apiGroups), names);
    for (const resource of new Set(resources)) append(this.#byResource, resource, rule);
  }

  #addPaths({ verbs, nonResourceURLs = [] }: PolicyRule): void {
    for (const url of nonResourceURLs) {
      const path = url.replace(/\*+$/, '');
      append(this.#byPath, url, { verbs: allowed(verbs), path: url });
      if (path !== url) this.#byBeginning.push({ verbs: allowed(verbs), path });
    }
  }
}

/** Rules that differ only by the names that they are limited to are one: there can be one for each of many objects. */
function withNamesTogether(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  if (rules.length < 2) return rules;
  const together = new Map<string, string[]>();
  const result: PolicyRule[] = [];
  for (const rule of rules) {
    const { verbs, apiGroups, resources, nonResourceURLs, resourceNames = [] } = rule;
    if (resourceNames.length === 0) {
      result.push(rule);
      continue;
    }
    const key = JSON.stringify([verbs, apiGroups, resources, nonResourceURLs]);
    const names = together.get(key);
    if (names === undefined) {
      const own = [...resourceNames];
      together.set(key, own);
      result.push({ ...rule, resourceNames: own });
    } else for (const name of resourceNames) names.push(name);
  }
  return result;
}

function some(rules: readonly ResourceRule[] | undefined, { verb, group, name }: ResourceQuestion): boolean {
  if (rules === undefined) return false;
  for (const rule of rules) {
    const isNamed = rule.names === undefined || (name !== undefined && rule.names.has(name));
    if (isNamed && rule.allows(verb, group)) return true;
  }
  return false;
}

function has(allowed: Allowed, value: string): boolean {
  return allowed === undefined || allowed.has(value);
}

function allowed(values: readonly string[] = []): Allowed {
  return values.includes(all) ? undefined : new Set(values);
}

function append<R>(rules: Map<string, R[]>, key: string, rule: R): void {
  const others = rules.get(key);
  if (others === undefined) rules.set(key, [rule]);
  else others.push(rule);
}
