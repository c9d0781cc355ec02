import type { Grant, PolicyIndex } from '../../authz/index.ts';
import type { Holder, PolicyChange } from './policy-change.ts';
import { holderIn, holderKey, roleKey } from './policy-change.ts';

/** Somebody, and the scopes where a change gives them other roles, or other rules by the roles that they have. */
export interface Touched {
  holder: Holder;
  /** Namespaces, and the empty text for the cluster. */
  scopes: Set<string>;
}

/** Whom a change can matter to, users first, in the order of their names. */
export function touchedBy(index: PolicyIndex, change: PolicyChange): Touched[] {
  const touched = new Map<string, Touched>();
  const touch = (holder: Holder | undefined, scope: string) => {
    if (holder === undefined) return;
    const key = holderKey(holder);
    const known = touched.get(key);
    if (known === undefined) touched.set(key, { holder, scopes: new Set([scope]) });
    else known.scopes.add(scope);
  };
  for (const { namespace, before, after } of change.bindings.values()) {
    for (const subject of [...before, ...(after?.subjects ?? [])]) {
      touch(holderIn(subject, namespace), namespace);
    }
  }
  for (const scope of scopesOf(index, change)) {
    index.eachIn(scope, (grant) => {
      if (change.roles.has(roleKey(grant.role))) touch(holderOfGrant(grant), scope);
    });
  }
  const users = [...touched.values()].filter(({ holder }) => holder.kind === 'User');
  const groups = [...touched.values()].filter(({ holder }) => holder.kind === 'Group');
  return [...users.sort(byName), ...groups.sort(byName)];
}

function byName(a: Touched, b: Touched): number {
  return a.holder.name < b.holder.name ? -1 : 1;
}

/** Where changed roles can be given: a ClusterRole everywhere. */
function scopesOf(index: PolicyIndex, { roles }: PolicyChange): Iterable<string> {
  const changed = [...roles.values()].map(({ id }) => id);
  if (changed.some(({ kind }) => kind === 'ClusterRole')) return index.namespaces;
  return new Set(changed.map(({ namespace }) => namespace));
}

/** The namespaces in which each of some holders has bindings now. */
export function namespacesOf(index: PolicyIndex, holders: readonly Holder[]): Map<string, string[]> {
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
