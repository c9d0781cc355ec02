import type { User } from '../authn/index.ts';
import {
  anonymousName,
  authenticatedGroup,
  serviceAccountGroups,
  serviceAccountOf,
  serviceAccountUserName,
} from '../authn/index.ts';
import type { Grant, PolicyIndex } from '../authz/index.ts';
import type { MissReason, NearMissSearch } from './near-miss-search.ts';
import { bindingReference, formatReference, subjectReference } from './references.ts';
import type { Action } from './requested-action.ts';
import { findAllowingGrants } from './requested-action.ts';

/*
 * Bindings that allow what is asked to another subject, which may have been meant.
 */

/** A subject that is looked up in the index instead of the user. */
interface Alternative {
  as: Pick<User, 'name' | 'groups'>;
  /** Only subjects of this kind. */
  kind: Grant['kind'];
  reason: MissReason;
  why: string;
}

export function searchSubjects(index: PolicyIndex, user: User, action: Action, search: NearMissSearch): void {
  for (const { as, kind, reason, why } of listAlternatives(user, action)) {
    for (const grant of findAllowingGrants(index, { ...as, extra: {} }, action)) {
      if (!search.takeGrant()) return;
      if (grant.kind === kind) search.add(reason, `${formatGrant(grant)}: ${why}`, grant);
    }
  }
  searchSpelling(index, user, action, search);
}

function formatGrant(grant: Grant): string {
  return `${formatReference(bindingReference(grant))} allows it to ${formatReference(subjectReference(grant))}`;
}

function* listAlternatives({ name, groups }: User, { scopes }: Action): Generator<Alternative> {
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

/** For a service account: spellings by which a binding may name it as a User. */
function* accountAsUser(userName: string, { namespace, name }: Account): Generator<Alternative> {
  const why = `a subject for this service account has the kind ServiceAccount, or is the User ${JSON.stringify(userName)}`;
  const spellings = [`${namespace}:${name}`, `${namespace}/${name}`, name];
  for (const spelling of [...spellings, `system:serviceaccounts:${namespace}:${name}`]) {
    const as = { name: spelling, groups: [] };
    yield { as, kind: 'User', reason: 'ServiceAccountAsUser', why };
  }
}

/** For a user: the service account that the question may mean. */
function* userAsAccount(user: string, namespace: string): Generator<Alternative> {
  const [, home = namespace, name = user] = /^([^:/]+)[:/]([^:/]+)$/.exec(user) ?? [];
  if (home === '' || name === '' || name.includes(':')) return;
  const as = { name: serviceAccountUserName(home, name), groups: [] };
  const why = `if that is meant, ask for the user ${JSON.stringify(as.name)}`;
  yield { as, kind: 'ServiceAccount', reason: 'ServiceAccountAsUser', why };
}

/** A question about a user by name may lack the groups that every such user is in. */
function* groupsNotAsked(name: string, groups: readonly string[], account?: Account): Generator<Alternative> {
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

/** Finds subjects that differ only in case, and service accounts of the same name in other namespaces. */
function searchSpelling(
  index: PolicyIndex,
  { name, groups }: User,
  action: Action,
  search: NearMissSearch,
): void {
  const account = serviceAccountOf(name);
  const users = new Map([[name.toLowerCase(), name]]);
  const groupsBySpelling = new Map(groups.map((group) => [group.toLowerCase(), group]));
  const lengths = new Set([name, ...groups].map(({ length }) => length));
  const end = account === undefined ? undefined : `:${account.name}`;
  const visit = (grant: Grant) => {
    if (!search.takeGrant()) return;
    const { holder, kind, role } = grant;
    const spellings = kind === 'Group' ? groupsBySpelling : users;
    const meant = lengths.has(holder.length) ? spellings.get(holder.toLowerCase()) : undefined;
    if (meant !== undefined && meant !== holder && action.question.isAllowedBy(role.rules)) {
      const why = `not to ${JSON.stringify(meant)}: names differ in case`;
      search.add('SubjectCase', `${formatGrant(grant)}, ${why}`, grant);
    }
    if (end === undefined || kind !== 'ServiceAccount' || holder === name || !holder.endsWith(end)) return;
    if (!action.question.isAllowedBy(role.rules)) return;
    const why = `the one that is asked about is of namespace ${JSON.stringify(account?.namespace)}`;
    search.add('ServiceAccountNamespace', `${formatGrant(grant)}: ${why}`, grant);
  };
  for (const scope of action.scopes) index.eachIn(scope, visit);
}
