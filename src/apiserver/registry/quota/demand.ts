import type { Amounts, ApiObject, Kind, ResourceQuota } from '../../../api/index.ts';
import { amountsOf, formatAmount } from './amounts.ts';
import { isInScope } from './scopes.ts';
import { findUnsaid, takes } from './usage.ts';

/** A write with what its object takes, and took before. */
export interface Measured {
  readonly kind: Kind;
  readonly next: ApiObject;
  readonly usage: Amounts;
  /** Of the object that is replaced. */
  readonly old: { readonly object: ApiObject; readonly usage: Amounts } | undefined;
}

/** Why a quota does not allow a write, in the reference's words. */
export interface Refusal {
  readonly why: string;
}

/** What a write takes more of a quota than is taken already; empty when it takes nothing. */
export function demandOf(
  quota: ResourceQuota,
  used: Amounts,
  write: Measured,
  groupSuffix: string,
): Amounts | Refusal {
  const { spec, status } = quota;
  const names = Object.keys(status?.hard ?? {}).filter((name) => takes(write.kind, groupSuffix, name));
  if (names.length === 0 || !isInScope(write.kind, write.next, spec)) return new Map();
  const name = quota.metadata?.name ?? '';
  const unsaid = findUnsaid(write.kind, write.next, names);
  if (unsaid !== undefined) return { why: `failed quota: ${name}: ${unsaid}` };
  if (names.some((each) => !used.has(each)))
    return { why: `status unknown for quota: ${name}, resources: ${names.toSorted().join(',')}` };
  const { old } = write;
  const before =
    old !== undefined && isInScope(write.kind, old.object, spec) ? old.usage : new Map<string, bigint>();
  const more = names.map((each): [string, bigint] => [
    each,
    (write.usage.get(each) ?? 0n) - (before.get(each) ?? 0n),
  ]);
  return new Map(more.filter(([, amount]) => amount > 0n));
}

/** Why a quota has not enough left for a demand. */
export function findExcess(quota: ResourceQuota, used: Amounts, demand: Amounts): Refusal | undefined {
  const hard = amountsOf(quota.status?.hard);
  const exceeded = [...demand.keys()]
    .filter((name) => (used.get(name) ?? 0n) + (demand.get(name) ?? 0n) > (hard.get(name) ?? 0n))
    .sort();
  if (exceeded.length === 0) return undefined;
  const list = (amounts: Amounts) =>
    exceeded.map((name) => `${name}=${formatAmount(name, amounts.get(name) ?? 0n)}`).join(',');
  const name = quota.metadata?.name ?? '';
  return {
    why: `exceeded quota: ${name}, requested: ${list(demand)}, used: ${list(used)}, limited: ${list(hard)}`,
  };
}
