import type { PolicyRule } from '../../../api/index.ts';
import { CompiledRules } from './compiled-rules.ts';

/** What one rule wants of one resource of one group: one verb, for some names or (undefined) for all. */
export interface ResourceRights {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly names: readonly string[] | undefined;
}

/** The names for which something is held. */
type Names = ReadonlySet<string> | 'all';

/** Lengths of text that are compared in about the time in which one rule is. */
const lettersAtOnce = 64;

/** To compile a rule takes about as long as to look at it so many times, and once more for each thing in it. */
const timesToCompile = 20;

/** The same for finding the rules on a resource, however few there are. */
const timesToFind = 5;

/**
 * The rules that somebody holds, as far as they can matter to those that are wanted. What is held of one verb on one
 * resource is found once, whatever names are asked about. Whoever asks must stop when the effort gets too much.
 */
export class HeldRights {
  readonly #near: readonly PolicyRule[];
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
    this.#near = held.filter(
      (rule) => rule.resources?.some((each) => resources.has(each)) || (isPath && rule.nonResourceURLs),
    );
    this.#effort = this.#near.reduce((sum, rule) => sum + timesToCompile + sizeOf(rule), 0);
    this.#pathEffort = this.#near.reduce((sum, rule) => sum + pathsEffort(rule), 1);
  }

  get #rules(): CompiledRules {
    this.#compiled ??= new CompiledRules(this.#near);
    return this.#compiled;
  }

  /** About how many rules could have been looked at in the same time, together with what it takes before the first can be. */
  get effort(): number {
    return this.#effort;
  }

  allowsPath(verb: string, path: string): boolean {
    this.#effort += this.#pathEffort;
    return this.#rules.allowsPath({ verb, path });
  }

  /** Of the names that are wanted those for which it is not held; `[undefined]` when all are wanted, and not held. */
  missing(wanted: ResourceRights): readonly (string | undefined)[] {
    const held = this.#namesOf(wanted);
    if (held === 'all') return [];
    return wanted.names === undefined ? [undefined] : wanted.names.filter((name) => !held.has(name));
  }

  #namesOf({ verb, group, resource }: ResourceRights): Names {
    // With their lengths no two can be taken for each other, whatever is in them.
    const key = `${verb.length} ${group.length} ${verb}${group}${resource}`;
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    const names = this.#find(verb, group, resource);
    this.#found.set(key, names);
    return names;
  }

  #find(verb: string, group: string, resource: string): Names {
    this.#effort += timesToFind;
    const sets: ReadonlySet<string>[] = [];
    for (const rule of this.#rules.about(resource, anyResource(resource))) {
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

/** `pods/log` as rules write it for the same subresource of whatever resource; empty without a subresource. */
function anyResource(resource: string): string {
  const slash = resource.indexOf('/');
  return slash === -1 ? '' : `*${resource.slice(slash)}`;
}

function sizeOf({ verbs, apiGroups = [], resources = [], resourceNames = [] }: PolicyRule): number {
  return verbs.length + apiGroups.length + resources.length + resourceNames.length;
}

function pathsEffort({ nonResourceURLs = [] }: PolicyRule): number {
  return nonResourceURLs.reduce((sum, path) => sum + 1 + Math.floor(path.length / lettersAtOnce), 0);
}
