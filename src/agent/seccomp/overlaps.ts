import { isSameOutcome } from './actions.ts';
import { conditionKey, groupConditions } from './conditions.ts';
import type { Remarks } from './remarks.ts';
import { shorten } from './remarks.ts';
import type { SeccompRule } from './types.ts';

/** A rule with keys for comparing its conditions to those of other rules. */
export interface Entry {
  readonly rule: SeccompRule;
  /** For each set of conditions that must hold together, the keys of its prefixes; the last one is that of the whole set. */
  readonly sets: readonly (readonly string[])[];
  /** The key of all sets together. */
  readonly key: string;
}

export function toEntry(rule: SeccompRule): Entry {
  const sets = groupConditions(rule.args).map(listPrefixes);
  return { rule, sets, key: sets.map((set) => set.at(-1)).join(' or ') };
}

function listPrefixes(set: SeccompRule['args']): string[] {
  const keys = [...set].sort((a, b) => a.index - b.index).map(conditionKey);
  return keys.map((_, index) => keys.slice(0, index + 1).join(' and '));
}

/** The first rule with certain conditions, and the first later one with another outcome. */
interface Holders {
  readonly first: SeccompRule;
  other?: SeccompRule;
}

/**
 * Adds an error for each rule that contradicts an earlier one for the call; with `overlaps` also warnings for repeated and
 * overlapping rules.
 */
export function compareConditions(
  name: string,
  entries: readonly Entry[],
  overlaps: boolean,
  remarks: Remarks,
): void {
  const holders = new Map<string, Holders>();
  const rules = new Map<string, SeccompRule>();
  const on = shorten(name);
  for (const entry of entries) {
    const { rule, key } = entry;
    const clash = findClash(entry, holders);
    const repeated = rules.get(key);
    if (clash !== undefined)
      remarks.error(
        rule.path,
        `contradicts ${clash.path} on ${on} under the same conditions, which runtimes refuse`,
      );
    else if (repeated !== undefined && overlaps) remarks.warn(rule.path, `repeats ${repeated.path} on ${on}`);
    else if (overlaps) warnOtherAction(entry, entries[0], on, remarks);
    addHolder(entry, holders);
    if (repeated === undefined) rules.set(key, rule);
  }
}

/** An earlier rule that has or begins with these conditions, and another outcome. */
function findClash({ rule, sets }: Entry, holders: ReadonlyMap<string, Holders>): SeccompRule | undefined {
  for (const set of sets) {
    const found = holders.get(set.at(-1) ?? '');
    if (found === undefined) continue;
    if (!isSameOutcome(found.first.outcome, rule.outcome)) return found.first;
    if (found.other !== undefined) return found.other;
  }
  return undefined;
}

function addHolder({ rule, sets }: Entry, holders: Map<string, Holders>): void {
  for (const key of sets.flat()) {
    const found = holders.get(key);
    if (found === undefined) holders.set(key, { first: rule });
    else if (!isSameOutcome(found.first.outcome, rule.outcome)) found.other ??= rule;
  }
}

function warnOtherAction({ rule }: Entry, first: Entry | undefined, on: string, remarks: Remarks): void {
  if (first === undefined || isSameOutcome(first.rule.outcome, rule.outcome)) return;
  remarks.warn(
    rule.path,
    `has another action than ${first.rule.path} on ${on}: where the conditions of both hold, it is libseccomp that chooses`,
  );
}

/** When a call has several sets of conditions, only SCMP_CMP_EQ works reliably: every other operator was found to go wrong. */
export function warnInexact(name: string, entries: readonly Entry[], remarks: Remarks): void {
  const sets = entries.reduce((sum, entry) => sum + entry.sets.length, 0);
  const inexact = entries.find(({ rule }) => rule.args.some(({ op }) => op !== 'SCMP_CMP_EQ'));
  if (sets < 2 || inexact === undefined) return;
  const why =
    'libseccomp does not always do what they say together, unless all compare with SCMP_CMP_EQ; try it';
  remarks.warn(inexact.rule.path, `is one of several rules with conditions on ${shorten(name)}: ${why}`);
}
