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

/** What the headers of a request ask for (specification, section 5: impersonation). */
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
 * Who a request is to be taken for, as its Impersonate headers say. Each part of that needs the permission of `user` to
 * impersonate it. Throws 400 on headers that make no sense, and 403.
 */
export async function impersonated(
  request: FastifyRequest,
  user: User,
  authorizer: Authorizer,
  groupSuffix: string,
): Promise<User> {
  const wanted = readHeaders(request.raw.rawHeaders);
  for (const attributes of permissionsFor(wanted, groupSuffix)) {
    const { verdict, reason } = await authorizer.authorize(user, attributes);
    if (verdict !== 'allow') throw refused(user, attributes, reason);
  }
  const { name, uid, extra } = wanted;
  return { name, groups: groupsOf(wanted), extra, ...(uid === '' ? {} : { uid }) };
}

/** From the headers as they came: joined ones could not be told from groups with a comma in them. */
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
    else if (what === 'user' || what === 'uid') single[what] = once(header, single[what], value);
    else if (header.startsWith(extraPrefix) && header !== extraPrefix) {
      const key = decoded(header.slice(extraPrefix.length));
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

/** Of several values it could not be told which one somebody in between has looked at. */
function once(header: string, before: string | undefined, value: string): string {
  if (before === undefined) return value;
  throw new StatusError('BadRequest', `the header ${header} was sent more than once`);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new StatusError('BadRequest', `the header ${extraPrefix}… has a key that is not percent-encoded`);
  }
}

type ResourceAttributes = Extract<Attributes, { resource: string }>;

function* permissionsFor(wanted: Wanted, suffix: string): Iterable<ResourceAttributes> {
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

/** Nobody gets the groups that the user really is in; only what goes with the name itself is added. */
function groupsOf({ name, groups }: Wanted): string[] {
  const account = serviceAccountOf(name);
  const own = groups.length === 0 && account !== undefined ? serviceAccountGroups(account.namespace) : groups;
  const others = name === anonymousName ? unauthenticatedGroup : authenticatedGroup;
  const told = own.includes(authenticatedGroup) || own.includes(unauthenticatedGroup);
  return [...new Set(told ? own : [...own, others])];
}

function refused(
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
