import { setImmediate } from 'node:timers/promises';
import type { AccessChange, AccessDiffStatus, AccessReference, AccessRight } from '../../../api/index.ts';
import { mastersGroup, nodesGroup, serviceAccountOf } from '../../authn/index.ts';
import type { PolicyIndex, RoleReader } from '../../authz/index.ts';
import { maxReported } from '../told.ts';
import type { Change, Comparison } from './compare.ts';
import { compare, comparisonOf, groupsOf, RuleLists, weightOf } from './compare.ts';
import type { Holder, PolicyChange } from './policy-change.ts';
import { holderKey, policyLater, policyNow } from './policy-change.ts';
import type { Touched } from './touched.ts';
import { namespacesOf, touchedBy } from './touched.ts';

/** So many rights are told of one subject, each way. */
const maxOfOne = 100;
/** And so many in all. */
const maxRights = 5_000;
/** So many namespaces of one subject are looked at for what it has there anyway. */
const maxElsewhere = 50;
/** So many single rights are looked at in all; subjects who have the same are looked at once. */
const maxChecked = 1_000_000;

/**
 * Who gains and who loses which rights by a change of roles and bindings. The policy is read at once; what follows lets
 * other requests pass.
 */
export async function judge(
  index: PolicyIndex,
  roles: RoleReader,
  change: PolicyChange,
): Promise<AccessDiffStatus> {
  const errors: string[] = [];
  const touched = touchedBy(index, change).filter(({ holder }) => !isMasters(holder, errors));
  const looked = touched.slice(0, maxReported);
  const subjects = comparisons(index, roles, change, looked, errors);
  const known = new Map<string, Change | 'tooMany'>();
  const telling = new Telling();
  let left = touched.length - looked.length;
  let room = maxChecked;
  for (const { holder, comparison } of subjects) {
    const before = known.get(comparison.key);
    if (before === undefined) room -= weightOf(comparison);
    if (before === undefined && room < 0) left++;
    else {
      const found = before ?? compare(comparison);
      known.set(comparison.key, found);
      telling.add(toldHolder(holder), found);
      if (before === undefined) await setImmediate();
    }
  }
  return telling.status(left, errors);
}

/** Members of system:masters may do everything, whatever roles say. */
function isMasters({ kind, name }: Holder, errors: string[]): boolean {
  if (kind !== 'Group') return false;
  if (name === nodesGroup)
    errors.push('only roles are looked at: the node authorizer lets node agents do more');
  if (name !== mastersGroup) return false;
  errors.push(`members of ${mastersGroup} may do everything whatever roles say: nothing changes for them`);
  return true;
}

function comparisons(
  index: PolicyIndex,
  roles: RoleReader,
  change: PolicyChange,
  touched: readonly Touched[],
  errors: string[],
): { holder: Holder; comparison: Comparison }[] {
  const sides = { now: policyNow(index), later: policyLater(index, roles, change), lists: new RuleLists() };
  const holders = touched.filter(({ scopes }) => scopes.has('')).flatMap(({ holder }) => withGroups(holder));
  const known = holders.length === 0 ? undefined : namespacesOf(index, holders);
  // a group can have bindings everywhere, and many who are looked at are in it
  for (const [key, all] of known ?? []) known?.set(key, all.sort().slice(0, maxElsewhere + 1));
  return touched.map(({ holder, scopes }) => {
    const there = withGroups(holder).flatMap((each) => known?.get(holderKey(each)) ?? []);
    const all = [...new Set([...there, ...[...scopes].filter((scope) => scope !== '')])].sort();
    if (all.length > maxElsewhere && scopes.has('')) {
      const { kind, name } = toldHolder(holder);
      const what = `of ${kind} ${JSON.stringify(name)} not all namespaces are looked at`;
      errors.push(`${what}: in some it may have before and after what is told as gained or lost`);
    }
    const elsewhere = all.slice(0, maxElsewhere);
    return { holder, comparison: comparisonOf(holder, [...scopes].sort(), elsewhere, sides) };
  });
}

function withGroups(holder: Holder): Holder[] {
  return [holder, ...groupsOf(holder).map((name) => ({ kind: 'Group', name }) as const)];
}

function toldHolder({ kind, name }: Holder): AccessReference {
  const account = kind === 'User' ? serviceAccountOf(name) : undefined;
  return account === undefined ? { kind, name } : { kind: 'ServiceAccount', ...account };
}

/** What is told, within its bounds. */
class Telling {
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
    const all = [...new Set([...errors, ...this.#errors])].slice(0, maxOfOne);
    return {
      ...(this.#changes.length === 0 ? {} : { changes: this.#changes }),
      ...(left === 0 ? {} : { moreSubjects: left }),
      ...(left > 0 || this.#isCut ? { truncated: true } : {}),
      ...(all.length === 0 ? {} : { errors: all }),
    };
  }

  #take(rights: readonly AccessRight[]): AccessRight[] {
    const taken = rights.slice(0, Math.min(maxOfOne, maxRights - this.#rights));
    this.#rights += taken.length;
    return taken;
  }
}
