import type { Attributes } from '../types.ts';
import type { CompiledRules, PathQuestion, ResourceQuestion } from './compiled-rules.ts';
import { everyResource, namedResourceKey, pathsKey } from './rule-keys.ts';

type ResourceAttributes = Extract<Attributes, { resource: string }>;

/** A request for a decision, in the form in which the rules of a role can answer it. */
export interface Question {
  isAllowedBy(rules: CompiledRules): boolean;
  /** The keys (rule-keys.ts) of rules that can allow it. */
  keys(): readonly string[];
}

export function questionOf(attributes: Attributes): Question {
  return 'path' in attributes ? new ByPath(attributes) : new ByResource(attributes);
}

class ByPath implements Question, PathQuestion {
  readonly verb: string;
  readonly path: string;

  constructor({ verb, path }: PathQuestion) {
    this.verb = verb;
    this.path = path;
  }

  isAllowedBy(rules: CompiledRules): boolean {
    return rules.allowsPath(this);
  }

  keys(): readonly string[] {
    return [pathsKey];
  }
}

class ByResource implements Question, ResourceQuestion {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly anyResource: string;
  readonly name: string | undefined;

  constructor(attributes: ResourceAttributes) {
    const { verb, group, resource, subresource } = attributes;
    this.verb = verb;
    this.group = group;
    this.resource = subresource === '' ? resource : `${resource}/${subresource}`;
    this.anyResource = subresource === '' ? '' : `*/${subresource}`;
    this.name = nameIn(attributes);
  }

  isAllowedBy(rules: CompiledRules): boolean {
    return rules.allowsResource(this);
  }

  keys(): readonly string[] {
    const { name, resource, anyResource } = this;
    const open = [everyResource, resource, ...(anyResource === '' ? [] : [anyResource])];
    return name === undefined ? open : [...open, ...open.map((each) => namedResourceKey(each, name))];
  }
}

/**
 * The name of the only object that a request is about. An object to be created has no name yet that could be trusted, and
 * the deletion of a collection is never narrowed to a name; a subresource is created on an existing object. A list and a
 * watch can be narrowed by a selector (specification, section 2.2).
 */
export function nameIn({ verb, subresource, name, selectors }: ResourceAttributes): string | undefined {
  if (verb === 'deletecollection' || (verb === 'create' && subresource === '')) return undefined;
  if (name !== '' || selectors === undefined || (verb !== 'list' && verb !== 'watch')) return name;
  for (const { field, operator, value } of selectors.fields) {
    if (field === 'metadata.name' && operator === '=') return value;
  }
  return name;
}
