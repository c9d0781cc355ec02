import type { PolicyRule } from '../../../api/index.ts';
import { CompiledRules } from './compiled-rules.ts';

/** Rights that are looked up together: one verb on one resource of one group, for some names or (undefined) for all. */
export interface ResourceRights {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly names: readonly string[] | undefined;
}

/** The names for which a right is held. */
type Names = ReadonlySet<string> | 'all';

/** So many characters are compared in about the time of one rule. */
const charactersPerStep = 64;

/** The cost of compiling a rule, in examined rules; plus one for each value in it. */
const compileEffort = 20;

/** The fixed cost of finding the rules on a resource, in examined rules. */
const lookupEffort = 5;

/**
 * The rules that a user holds, as far as they can matter to the wanted rules. The names for one verb on one resource are
 * found once, whatever names are asked about. The caller must stop when `effort` becomes too large.
 */
export class HeldRights {
  readonly #relevant: readonly PolicyRule[];
  #compiled: CompiledRules | undefined;
  readonly #found = new Map<string, Names>();
  readonly #pathEffort: number;
  #effort: number;

  constructor(held: readonly PolicyRule[], wanted: readonly PolicyRule[]) {
    const resources = new Set(['*']);
    for (const rule of wanted) {
      for (const resource of rule.resources ?? []) resources.add(resource).add(anyResource(resource));
    }
    const isPath = wanted.some(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0);
    this.#relevant = held.filter(
      (rule) => rule.resources?.some((each) => resources.has(each)) || (isPath && rule.nonResourceURLs),
    );
    this.#effort = this.#relevant.reduce((sum, rule) => sum + compileEffort + sizeOf(rule), 0);
    this.#pathEffort = this.#relevant.reduce((sum, rule) => sum + pathsEffort(rule), 1);
  }

  get #rules(): CompiledRules {
    this.#compiled ??= new CompiledRules(this.#relevant);
    return this.#compiled;
  }

  /** The cost so far in about the number of examined rules, including the preparation. */
  get effort(): number {
    return this.#effort;
  }

  allowsPath(verb: string, path: string): boolean {
    this.#effort += this.#pathEffort;
    return this.#rules.allowsPath({ verb, path });
  }

  /** Returns the wanted names for which the right is not held; `[undefined]` when all names are wanted but not held. */
  findMissing(wanted: ResourceRights): readonly (string | undefined)[] {
    const held = this.#namesOf(wanted);
    if (held === 'all') return [];
    return wanted.names === undefined ? [undefined] : wanted.names.filter((name) => !held.has(name));
  }

  #namesOf({ verb, group, resource }: ResourceRights): Names {
    // the lengths make the key unique, whatever the values contain
    const key = `${verb.length} ${group.length} ${verb}${group}${resource}`;
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    const names = this.#find(verb, group, resource);
    this.#found.set(key, names);
    return names;
  }

  #find(verb: string, group: string, resource: string): Names {
    this.#effort += lookupEffort;
    const sets: ReadonlySet<string>[] = [];
    for (const rule of this.#rules.applicableTo(resource, anyResource(resource))) {
      this.#effort++;
      if (!rule.allows(verb, group)) continue;
      if (rule.names === undefined) return 'all';
      sets.push(rule.names);
    }
    const [first, ...others] = sets;
    if (first === undefined || others.length === 0) return first ?? none;
    const names = new Set<string>();
    for (const set of sets) {
      this.#effort += 2 * set.size;
      for (const name of set) names.add(name);
    }
    return names;
  }
}

const none: ReadonlySet<string> = new Set();

/** The same subresource of every resource as rules write it, for `pods/log`: an asterisk and `/log`; empty without one. */
function anyResource(resource: string): string {
  const slash = resource.indexOf('/');
  return slash === -1 ? '' : `*${resource.slice(slash)}`;
}

function sizeOf({ verbs, apiGroups = [], resources = [], resourceNames = [] }: PolicyRule): number {
  return verbs.length + apiGroups.length + resources.length + resourceNames.length;
}

function pathsEffort({ nonResourceURLs = [] }: PolicyRule): number {
  return nonResourceURLs.reduce((sum, path) => sum + 1 + Math.floor(path.length / charactersPerStep), 0);
}
