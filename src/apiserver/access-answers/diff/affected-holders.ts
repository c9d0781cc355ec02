import type { Grant, PolicyIndex } from '../../authz/index.ts';
import type { Holder, PolicyChange } from './policy-change.ts';
import { holderKey, roleKey, toHolder } from './policy-change.ts';

/** A user or group, and the scopes in which a change gives it other roles, or other rules by the roles that it has. */
export interface AffectedHolder {
  holder: Holder;
  /** Namespaces, and the empty text for the cluster. */
  scopes: Set<string>;
}

/** The holders that a change can affect: users first, each sorted by name. */
export function findAffectedHolders(index: PolicyIndex, change: PolicyChange): AffectedHolder[] {
  const affected = new Map<string, AffectedHolder>();
  const add = (holder: Holder | undefined, scope: string) => {
    if (holder === undefined) return;
    const key = holderKey(holder);
    const known = affected.get(key);
    if (known === undefined) affected.set(key, { holder, scopes: new Set([scope]) });
    else known.scopes.add(scope);
  };
  for (const { namespace, before, after } of change.bindings.values()) {
    for (const subject of [...before, ...(after?.subjects ?? [])]) {
      add(toHolder(subject, namespace), namespace);
    }
  }
  for (const scope of scopesOf(index, change)) {
    index.eachIn(scope, (grant) => {
      if (change.roles.has(roleKey(grant.role))) add(holderOfGrant(grant), scope);
    });
  }
  const users = [...affected.values()].filter(({ holder }) => holder.kind === 'User');
  const groups = [...affected.values()].filter(({ holder }) => holder.kind === 'Group');
  return [...users.sort(byName), ...groups.sort(byName)];
}

function byName(a: AffectedHolder, b: AffectedHolder): number {
  return a.holder.name < b.holder.name ? -1 : 1;
}

/** The scopes in which changed roles can be bound: for a ClusterRole all of them. */
function scopesOf(index: PolicyIndex, { roles }: PolicyChange): Iterable<string> {
  const changed = [...roles.values()].map(({ id }) => id);
  if (changed.some(({ kind }) => kind === 'ClusterRole')) return index.namespaces;
  return new Set(changed.map(({ namespace }) => namespace));
}

/** Finds the namespaces in which each of the holders has bindings now. */
export function findNamespaces(index: PolicyIndex, holders: readonly Holder[]): Map<string, string[]> {
  const found = new Map<string, string[]>(holders.map((holder) => [holderKey(holder), []]));
  for (const namespace of index.namespaces) {
    if (namespace === '') continue;
    index.eachIn(namespace, (grant, isNext) => {
      if (!isNext) found.get(holderKey(holderOfGrant(grant)))?.push(namespace);
    });
  }
  return found;
}

function holderOfGrant({ kind, holder }: Grant): Holder {
  return { kind: kind === 'Group' ? 'Group' : 'User', name: holder };
}
