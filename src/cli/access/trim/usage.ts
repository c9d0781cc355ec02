import type { Subject } from '../subject.ts';
import type { LoggedObject, LoggedRequest, LoggedUser } from './audit-log.ts';

/** A right that was used: a verb on a resource, and the names of the objects. */
export interface UsedRight {
  verb: string;
  namespace: string;
  group: string;
  resource: string;
  subresource: string;
  /** Undefined if the right cannot be limited to names, was used without one, or for too many to list. */
  names: ReadonlySet<string> | undefined;
}

export interface UsedPath {
  verb: string;
  path: string;
}

/** With more names a right counts for all names. */
const maxNames = 1_000;
/** Rights and paths together; further ones are dropped. */
const maxRights = 20_000;
/** Ids that are remembered to count a request once: the entries of its stages are close to each other. */
const maxRecentIds = 10_000;

/** What a subject did, collected from the requests of an audit log. */
export class Usage {
  readonly #subject: Subject;
  readonly #maxListedNames: number;
  readonly #rights = new Map<string, Omit<UsedRight, 'names'> & { names: Set<string> | undefined }>();
  readonly #paths = new Map<string, UsedPath>();
  readonly #recentIds = new Set<string>();
  /** Allowed requests. Approximate if entries of one request are far from each other. */
  requests = 0;
  refused = 0;
  /** Times of the first and the last request, RFC 3339; empty if there is none. */
  first = '';
  last = '';
  /** Whether rights were dropped because there were too many. */
  isTruncated = false;
  /** Whether it wrote roles, bindings or approvals, which needs rights that are not in the log. */
  wroteRights = false;
  /** The groups of the subject in its last request. */
  groups: readonly string[] = [];

  /** A right with more than `maxListedNames` names counts for all names. */
  constructor(subject: Subject, maxListedNames: number) {
    this.#subject = subject;
    this.#maxListedNames = maxListedNames;
  }

  add(request: LoggedRequest): void {
    const { user, impersonated = user } = request;
    const isOwn = this.#isSubject(impersonated);
    const isImpersonator = request.impersonated !== undefined && this.#isSubject(user);
    if (!isOwn && !isImpersonator) return;
    this.#count(request);
    if (!request.allowed) return;
    if (isImpersonator) this.#addImpersonation(impersonated);
    if (!isOwn) return;
    this.groups = impersonated.groups;
    const { target, verb, code } = request;
    if ('path' in target) this.#addPath({ verb, path: target.path });
    else {
      this.#addRight(verb, target);
      // the object was created, which needs a second right that the log does not contain
      if (code === 201 && (verb === 'update' || verb === 'patch')) this.#addRight('create', target);
      this.wroteRights ||= writesRights(verb, target);
    }
  }

  get paths(): UsedPath[] {
    return [...this.#paths.values()];
  }

  get rights(): UsedRight[] {
    return [...this.#rights.values()].map(({ names, ...right }) => ({
      ...right,
      names: names !== undefined && names.size <= this.#maxListedNames ? names : undefined,
    }));
  }

  #isSubject({ name, groups }: LoggedUser): boolean {
    return this.#subject.kind === 'User' ? name === this.#subject.name : groups.includes(this.#subject.name);
  }

  #count({ id, at, allowed }: LoggedRequest): void {
    if (this.first === '' || at < this.first) this.first = at;
    if (at > this.last) this.last = at;
    if (id !== '' && this.#recentIds.has(id)) return;
    this.#recentIds.add(id);
    for (const oldest of this.#recentIds) {
      if (this.#recentIds.size <= maxRecentIds) break;
      this.#recentIds.delete(oldest);
    }
    if (allowed) this.requests++;
    else this.refused++;
  }

  #addPath(used: UsedPath): void {
    if (used.path === '' || used.path.includes('*')) return; // no rule can name such a path
    if (this.#isFull()) return;
    this.#paths.set(`${used.verb} ${used.path}`, used);
  }

  #addRight(verb: string, { name, ...object }: LoggedObject): void {
    const { namespace, group, resource, subresource } = object;
    if (resource === '') return;
    const key = JSON.stringify([namespace, group, resource, subresource, verb]);
    const known = this.#rights.get(key);
    if (known === undefined) {
      if (this.#isFull()) return;
      const names = canBeNamed(verb, subresource) && name !== '' ? new Set([name]) : undefined;
      this.#rights.set(key, { verb, ...object, names });
    } else if (name === '' || (known.names !== undefined && known.names.size >= maxNames)) {
      known.names = undefined;
    } else known.names?.add(name);
  }

  /** The rights that the impersonation needs. Groups that every such user is in need none. */
  #addImpersonation({ name, uid, groups, extra }: LoggedUser): void {
    const own = { namespace: '', group: '', subresource: '' };
    const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name);
    const [, namespace = '', accountName = ''] = account ?? [];
    if (account === null) this.#addRight('impersonate', { ...own, resource: 'users', name });
    else this.#addRight('impersonate', { ...own, resource: 'serviceaccounts', namespace, name: accountName });
    for (const group of groups) {
      if (/^system:(?:un)?authenticated$|^system:serviceaccounts(?::|$)/.test(group)) continue;
      this.#addRight('impersonate', { ...own, resource: 'groups', name: group });
    }
    const more = { ...own, group: 'authentication.k8s.io' };
    if (uid !== '') this.#addRight('impersonate', { ...more, resource: 'uids', name: uid });
    for (const [key, values] of Object.entries(extra)) {
      for (const value of values) {
        this.#addRight('impersonate', { ...more, resource: 'userextras', subresource: key, name: value });
      }
    }
  }

  #isFull(): boolean {
    const isFull = this.#rights.size + this.#paths.size >= maxRights;
    this.isTruncated ||= isFull;
    return isFull;
  }
}

/** Whether a rule with names can allow it: not creating an object or deleting a collection. */
function canBeNamed(verb: string, subresource: string): boolean {
  return verb !== 'deletecollection' && (verb !== 'create' || subresource !== '');
}

function writesRights(verb: string, { group, resource, subresource }: LoggedObject): boolean {
  if (['get', 'list', 'watch'].includes(verb)) return false;
  if (group.startsWith('rbac.authorization.')) return true;
  return resource === 'certificatesigningrequests' && subresource !== '';
}
