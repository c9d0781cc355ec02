import type { FastifyRequest } from 'fastify';
import { groupName, StatusError } from '../../../api/index.ts';
import type { User } from '../../authn/index.ts';
import {
  anonymousName,
  authenticatedGroup,
  serviceAccountGroups,
  serviceAccountOf,
  unauthenticatedGroup,
} from '../../authn/index.ts';
import type { Attributes, Authorizer } from '../../authz/index.ts';

/** The identity that the Impersonate headers ask for (specification, section 5: impersonation). */
interface Wanted {
  name: string;
  uid: string;
  groups: readonly string[];
  extra: Readonly<Record<string, readonly string[]>>;
}

const prefix = 'impersonate-';
const extraPrefix = `${prefix}extra-`;

/** Whether a request has Impersonate headers. */
export function asksToImpersonate({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  for (const name in headers) if (name.startsWith(prefix)) return true;
  return false;
}

/**
 * Returns the user that the Impersonate headers of a request name. `user` needs the permission to impersonate each part of
 * that identity. Throws 400 for invalid headers, 403 without permission.
 */
export async function resolveImpersonatedUser(
  request: FastifyRequest,
  user: User,
  authorizer: Authorizer,
  groupSuffix: string,
): Promise<User> {
  const wanted = readHeaders(request.raw.rawHeaders);
  for (const attributes of listNeededPermissions(wanted, groupSuffix)) {
    const { verdict, reason } = await authorizer.authorize(user, attributes);
    if (verdict !== 'allow') throw toForbidden(user, attributes, reason);
  }
  const { name, uid, extra } = wanted;
  return { name, groups: groupsOf(wanted), extra, ...(uid === '' ? {} : { uid }) };
}

/** Parses the raw headers: in joined ones, several groups could not be distinguished from one with a comma in it. */
function readHeaders(raw: readonly string[]): Wanted {
  const extra: Record<string, string[]> = Object.create(null);
  const groups: string[] = [];
  const single: { user?: string; uid?: string } = {};
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const header = (raw[at] ?? '').toLowerCase();
    const value = raw[at + 1] ?? '';
    if (!header.startsWith(prefix)) continue;
    const what = header.slice(prefix.length);
    if (what === 'group') groups.push(value);
    else if (what === 'user' || what === 'uid') single[what] = requireSingle(header, single[what], value);
    else if (header.startsWith(extraPrefix) && header !== extraPrefix) {
      const key = decodeKey(header.slice(extraPrefix.length));
      extra[key] = [...(extra[key] ?? []), value];
    } else
      throw new StatusError('BadRequest', `the header ${header} asks for nothing that can be impersonated`);
  }
  const { user = '', uid = '' } = single;
  if (user === '') {
    throw new StatusError(
      'BadRequest',
      'groups, a uid or extra values are to be impersonated without a user',
    );
  }
  return { name: user, uid, groups, extra: { ...extra } };
}

/** Refuses a second value: a proxy in front of the server may have checked the other one. */
function requireSingle(header: string, before: string | undefined, value: string): string {
  if (before === undefined) return value;
  throw new StatusError('BadRequest', `the header ${header} was sent more than once`);
}

function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new StatusError('BadRequest', `the header ${extraPrefix}… has a key that is not percent-encoded`);
  }
}

type ResourceAttributes = Extract<Attributes, { resource: string }>;

function* listNeededPermissions(wanted: Wanted, suffix: string): Iterable<ResourceAttributes> {
  const core = { verb: 'impersonate', group: '', version: 'v1', subresource: '', namespace: '' };
  const account = serviceAccountOf(wanted.name);
  if (account !== undefined) yield { ...core, resource: 'serviceaccounts', ...account };
  else yield { ...core, resource: 'users', name: wanted.name };
  for (const name of wanted.groups) yield { ...core, resource: 'groups', name };
  const own = { ...core, group: groupName('authentication', suffix) };
  if (wanted.uid !== '') yield { ...own, resource: 'uids', name: wanted.uid };
  for (const [key, values] of Object.entries(wanted.extra)) {
    for (const name of values) yield { ...own, resource: 'userextras', subresource: key, name };
  }
}

/** Adds the groups that follow from the name alone; the groups of the impersonated user are not known here. */
function groupsOf({ name, groups }: Wanted): string[] {
  const account = serviceAccountOf(name);
  const own = groups.length === 0 && account !== undefined ? serviceAccountGroups(account.namespace) : groups;
  const implied = name === anonymousName ? unauthenticatedGroup : authenticatedGroup;
  const isExplicit = own.includes(authenticatedGroup) || own.includes(unauthenticatedGroup);
  return [...new Set(isExplicit ? own : [...own, implied])];
}

function toForbidden(
  { name: user }: User,
  { group, resource, subresource, namespace, name }: ResourceAttributes,
  reason: string,
): StatusError {
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const why = reason === '' ? '' : `: ${reason}`;
  const message = `${resource}${group === '' ? '' : `.${group}`} "${name}" is forbidden: User "${user}" cannot impersonate resource "${what}" in API group "${group}" ${where}${why}`;
  return new StatusError('Forbidden', message, {
    details: { name, kind: resource, ...(group === '' ? {} : { group }) },
  });
}
