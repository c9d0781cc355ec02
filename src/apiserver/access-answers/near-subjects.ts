import type { User } from '../authn/index.ts';
import {
  anonymousName,
  authenticatedGroup,
  serviceAccountGroups,
  serviceAccountOf,
  serviceAccountUserName,
} from '../authn/index.ts';
import type { Grant, PolicyIndex } from '../authz/index.ts';
import type { Action } from './action.ts';
import { allowingGrants } from './action.ts';
import type { MissReason, Search } from './search.ts';
import { named, toldBinding, toldSubject } from './told.ts';

/*
 * Bindings that allow what is asked, and are for somebody else who may have been meant.
 */

/** Somebody who is looked for in the index in the user's place. */
interface Other {
  as: Pick<User, 'name' | 'groups'>;
  /** Only subjects of this kind. */
  kind: Grant['kind'];
  reason: MissReason;
  why: string;
}

export function subjectMisses(index: PolicyIndex, user: User, action: Action, search: Search): void {
  for (const { as, kind, reason, why } of others(user, action)) {
    for (const grant of allowingGrants(index, { ...as, extra: {} }, action)) {
      if (!search.takeGrant()) return;
      if (grant.kind === kind) search.note(reason, `${given(grant)}: ${why}`, grant);
    }
  }
  searchSpelling(index, user, action, search);
}

function given(grant: Grant): string {
  return `${named(toldBinding(grant))} allows it to ${named(toldSubject(grant))}`;
}

function* others({ name, groups }: User, { scopes }: Action): Generator<Other> {
  const account = serviceAccountOf(name);
  if (account !== undefined) yield* accountAsUser(name, account);
  else yield* userAsAccount(name, scopes.at(-1) ?? '');
  for (const group of groups) {
    const why = `${JSON.stringify(group)} is a group of the user, the subject must be of kind Group`;
    yield { as: { name: group, groups: [] }, kind: 'User', reason: 'GroupAsUser', why };
  }
  const why = `${JSON.stringify(name)} is a user, the subject must be of kind User`;
  if (name !== '') yield { as: { name: '', groups: [name] }, kind: 'Group', reason: 'UserAsGroup', why };
  yield* groupsNotAsked(name, groups, account);
}

interface Account {
  namespace: string;
  name: string;
}

/** The binding names a User where it means a service account. */
function* accountAsUser(userName: string, { namespace, name }: Account): Generator<Other> {
  const why = `a subject for this service account has the kind ServiceAccount, or is the User ${JSON.stringify(userName)}`;
  const spellings = [`${namespace}:${name}`, `${namespace}/${name}`, name];
  for (const spelling of [...spellings, `system:serviceaccounts:${namespace}:${name}`]) {
    const as = { name: spelling, groups: [] };
    yield { as, kind: 'User', reason: 'ServiceAccountAsUser', why };
  }
}

/** The question names a user where it means a service account. */
function* userAsAccount(user: string, namespace: string): Generator<Other> {
  const [, home = namespace, name = user] = /^([^:/]+)[:/]([^:/]+)$/.exec(user) ?? [];
  if (home === '' || name === '' || name.includes(':')) return;
  const as = { name: serviceAccountUserName(home, name), groups: [] };
  const why = `if that is meant, ask for the user ${JSON.stringify(as.name)}`;
  yield { as, kind: 'ServiceAccount', reason: 'ServiceAccountAsUser', why };
}

/** Whoever asks about somebody by name may have forgotten the groups that everybody like that is in. */
function* groupsNotAsked(name: string, groups: readonly string[], account?: Account): Generator<Other> {
  if (name === '' || name === anonymousName) return;
  const usual = [
    ...(account === undefined ? [] : serviceAccountGroups(account.namespace)),
    authenticatedGroup,
  ];
  const missing = usual.filter((group) => !groups.includes(group));
  if (missing.length === 0) return;
  const why = 'the user is in this group once authenticated, but the question was not asked with it';
  yield { as: { name: '', groups: missing }, kind: 'Group', reason: 'GroupNotAsked', why };
}

/** Subjects that differ in case alone, and service accounts of the same name in other namespaces. */
function searchSpelling(index: PolicyIndex, { name, groups }: User, action: Action, search: Search): void {
  const account = serviceAccountOf(name);
  const users = new Map([[name.toLowerCase(), name]]);
  const groupsBySpelling = new Map(groups.map((group) => [group.toLowerCase(), group]));
  const lengths = new Set([name, ...groups].map(({ length }) => length));
  const end = account === undefined ? undefined : `:${account.name}`;
  const look = (grant: Grant) => {
    if (!search.takeGrant()) return;
    const { holder, kind, role } = grant;
    const others = kind === 'Group' ? groupsBySpelling : users;
    const meant = lengths.has(holder.length) ? others.get(holder.toLowerCase()) : undefined;
    if (meant !== undefined && meant !== holder && action.question.isAllowedBy(role.rules)) {
      const why = `not to ${JSON.stringify(meant)}: names differ in case`;
      search.note('SubjectCase', `${given(grant)}, ${why}`, grant);
    }
    if (end === undefined || kind !== 'ServiceAccount' || holder === name || !holder.endsWith(end)) return;
    if (!action.question.isAllowedBy(role.rules)) return;
    const why = `the one that is asked about is of namespace ${JSON.stringify(account?.namespace)}`;
    search.note('ServiceAccountNamespace', `${given(grant)}: ${why}`, grant);
  };
  for (const scope of action.scopes) index.eachIn(scope, look);
}
