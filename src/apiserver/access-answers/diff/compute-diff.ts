import { setImmediate } from 'node:timers/promises';
import type { AccessChange, AccessDiffStatus, AccessReference, AccessRight } from '../../../api/index.ts';
import { mastersGroup, nodesGroup, serviceAccountOf } from '../../authn/index.ts';
import type { PolicyIndex, RoleReader } from '../../authz/index.ts';
import { maxReported } from '../references.ts';
import type { AffectedHolder } from './affected-holders.ts';
import { findAffectedHolders, findNamespaces } from './affected-holders.ts';
import type { Change, Comparison } from './compare.ts';
import { compare, createComparison, estimateWork, groupsOf, RuleLists } from './compare.ts';
import type { Holder, PolicyChange } from './policy-change.ts';
import { createChangedPolicies, createCurrentPolicies, holderKey } from './policy-change.ts';

/** Rights that are listed for one subject in each direction; also the limit of errors. */
const maxRightsPerSubject = 100;
/** Rights that are listed in all. */
const maxRights = 5_000;
/** Namespaces of one subject in which the rights that it has there anyway are examined. */
const maxOtherNamespaces = 50;
/** Single rights that are examined in all; subjects with the same rights are examined once. */
const maxChecked = 1_000_000;

/**
 * Computes who gains and who loses which rights by a change of roles and bindings. The policy is read in one step; the
 * comparison then yields to other requests.
 */
export async function computeAccessDiff(
  index: PolicyIndex,
  roles: RoleReader,
  change: PolicyChange,
): Promise<AccessDiffStatus> {
  const errors: string[] = [];
  const affected = findAffectedHolders(index, change).filter(({ holder }) => !noteMasters(holder, errors));
  const examined = affected.slice(0, maxReported);
  const subjects = createComparisons(index, roles, change, examined, errors);
  const known = new Map<string, Change | 'tooMany'>();
  const report = new DiffReport();
  let left = affected.length - examined.length;
  let budget = maxChecked;
  for (const { holder, comparison } of subjects) {
    const before = known.get(comparison.key);
    if (before === undefined) budget -= estimateWork(comparison);
    if (before === undefined && budget < 0) left++;
    else {
      const found = before ?? compare(comparison);
      known.set(comparison.key, found);
      report.add(toReference(holder), found);
      if (before === undefined) await setImmediate();
    }
  }
  return report.status(left, errors);
}

/** Whether the holder is system:masters, whose members may do everything whatever roles say; adds notes about its groups. */
function noteMasters({ kind, name }: Holder, errors: string[]): boolean {
  if (kind !== 'Group') return false;
  if (name === nodesGroup)
    errors.push('only roles are looked at: the node authorizer lets node agents do more');
  if (name !== mastersGroup) return false;
  errors.push(`members of ${mastersGroup} may do everything whatever roles say: nothing changes for them`);
  return true;
}

function createComparisons(
  index: PolicyIndex,
  roles: RoleReader,
  change: PolicyChange,
  affected: readonly AffectedHolder[],
  errors: string[],
): { holder: Holder; comparison: Comparison }[] {
  const sides = {
    now: createCurrentPolicies(index),
    later: createChangedPolicies(index, roles, change),
    lists: new RuleLists(),
  };
  const holders = affected.filter(({ scopes }) => scopes.has('')).flatMap(({ holder }) => withGroups(holder));
  const known = holders.length === 0 ? undefined : findNamespaces(index, holders);
  // a group can have bindings in all namespaces, and many of the examined holders are its members
  for (const [key, all] of known ?? []) known?.set(key, all.sort().slice(0, maxOtherNamespaces + 1));
  return affected.map(({ holder, scopes }) => {
    const there = withGroups(holder).flatMap((each) => known?.get(holderKey(each)) ?? []);
    const all = [...new Set([...there, ...[...scopes].filter((scope) => scope !== '')])].sort();
    if (all.length > maxOtherNamespaces && scopes.has('')) {
      const { kind, name } = toReference(holder);
      const what = `of ${kind} ${JSON.stringify(name)} not all namespaces are looked at`;
      errors.push(`${what}: in some it may have what is listed as gained or lost both before and after`);
    }
    const otherNamespaces = all.slice(0, maxOtherNamespaces);
    return { holder, comparison: createComparison(holder, [...scopes].sort(), otherNamespaces, sides) };
  });
}

function withGroups(holder: Holder): Holder[] {
  return [holder, ...groupsOf(holder).map((name) => ({ kind: 'Group', name }) as const)];
}

function toReference({ kind, name }: Holder): AccessReference {
  const account = kind === 'User' ? serviceAccountOf(name) : undefined;
  return account === undefined ? { kind, name } : { kind: 'ServiceAccount', ...account };
}

/** Collects the changes for the answer, within its limits. */
class DiffReport {
  readonly #changes: AccessChange[] = [];
  readonly #errors: string[] = [];
  #rights = 0;
  #isCut = false;

  add(subject: AccessReference, change: Change | 'tooMany'): void {
    if (change === 'tooMany') {
      const { kind, name } = subject;
      this.#errors.push(`${kind} ${JSON.stringify(name)} has, or will have, too many rights to compare`);
      this.#isCut = true;
      return;
    }
    if (change.gains.length + change.loses.length === 0) return;
    const gains = this.#take(change.gains);
    const loses = this.#take(change.loses);
    const more = change.gains.length + change.loses.length - gains.length - loses.length;
    this.#changes.push({
      subject,
      ...(gains.length === 0 ? {} : { gains }),
      ...(loses.length === 0 ? {} : { loses }),
      ...(more === 0 ? {} : { moreRights: more }),
    });
    this.#isCut ||= more > 0;
  }

  status(left: number, errors: readonly string[]): AccessDiffStatus {
    const all = [...new Set([...errors, ...this.#errors])].slice(0, maxRightsPerSubject);
    return {
      ...(this.#changes.length === 0 ? {} : { changes: this.#changes }),
      ...(left === 0 ? {} : { moreSubjects: left }),
      ...(left > 0 || this.#isCut ? { truncated: true } : {}),
      ...(all.length === 0 ? {} : { errors: all }),
    };
  }

  #take(rights: readonly AccessRight[]): AccessRight[] {
    const taken = rights.slice(0, Math.min(maxRightsPerSubject, maxRights - this.#rights));
    this.#rights += taken.length;
    return taken;
  }
}
