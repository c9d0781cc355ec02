import { sameOutcome } from './actions.ts';
import { alternatives, conditionKey } from './conditions.ts';
import type { Remarks } from './remarks.ts';
import { shortened } from './remarks.ts';
import type { SeccompRule } from './types.ts';

/** A rule as its conditions are compared. */
export interface Entry {
  readonly rule: SeccompRule;
  /** Each set of conditions that must hold together: the texts of all that it begins with, the whole at the end. */
  readonly sets: readonly (readonly string[])[];
  /** All of it. */
  readonly key: string;
}

export function entryOf(rule: SeccompRule): Entry {
  const sets = alternatives(rule.args).map(beginnings);
  return { rule, sets, key: sets.map((set) => set.at(-1)).join(' or ') };
}

function beginnings(set: SeccompRule['args']): string[] {
  const keys = [...set].sort((a, b) => a.index - b.index).map(conditionKey);
  return keys.map((_, index) => keys.slice(0, index + 1).join(' and '));
}

/** The first rule with some conditions, and the first that then does something else. */
interface Holders {
  readonly first: SeccompRule;
  other?: SeccompRule;
}

/** Tells of the rules for a call, in their order, those that contradict one before; `overlaps`: also what is less. */
export function compareConditions(
  name: string,
  entries: readonly Entry[],
  overlaps: boolean,
  remarks: Remarks,
): void {
  const holders = new Map<string, Holders>();
  const rules = new Map<string, SeccompRule>();
  const on = shortened(name);
  for (const entry of entries) {
    const { rule, key } = entry;
    const clash = clashWith(entry, holders);
    const repeated = rules.get(key);
    if (clash !== undefined)
      remarks.error(
        rule.path,
        `contradicts ${clash.path} on ${on} under the same conditions, which runtimes refuse`,
      );
    else if (repeated !== undefined && overlaps) remarks.warn(rule.path, `repeats ${repeated.path} on ${on}`);
    else if (overlaps) tellOther(entry, entries[0], on, remarks);
    hold(entry, holders);
    if (repeated === undefined) rules.set(key, rule);
  }
}

/** A rule before that has these conditions, or begins with them, and does something else. */
function clashWith({ rule, sets }: Entry, holders: ReadonlyMap<string, Holders>): SeccompRule | undefined {
  for (const set of sets) {
    const found = holders.get(set.at(-1) ?? '');
    if (found === undefined) continue;
    if (!sameOutcome(found.first.outcome, rule.outcome)) return found.first;
    if (found.other !== undefined) return found.other;
  }
  return undefined;
}

function hold({ rule, sets }: Entry, holders: Map<string, Holders>): void {
  for (const key of sets.flat()) {
    const found = holders.get(key);
    if (found === undefined) holders.set(key, { first: rule });
    else if (!sameOutcome(found.first.outcome, rule.outcome)) found.other ??= rule;
  }
}

function tellOther({ rule }: Entry, first: Entry | undefined, on: string, remarks: Remarks): void {
  if (first === undefined || sameOutcome(first.rule.outcome, rule.outcome)) return;
  remarks.warn(
    rule.path,
    `has another action than ${first.rule.path} on ${on}: where the conditions of both hold, it is libseccomp that chooses`,
  );
}

/** Equality alone is taken exactly where several sets of conditions meet; each other operator was seen to go wrong. */
export function tellInexact(name: string, entries: readonly Entry[], remarks: Remarks): void {
  const sets = entries.reduce((sum, entry) => sum + entry.sets.length, 0);
  const inexact = entries.find(({ rule }) => rule.args.some(({ op }) => op !== 'SCMP_CMP_EQ'));
  if (sets < 2 || inexact === undefined) return;
  const why =
    'libseccomp does not always do what they say together, unless all compare with SCMP_CMP_EQ; try it';
  remarks.warn(inexact.rule.path, `is one of several rules with conditions on ${shortened(name)}: ${why}`);
}
