import type { LoggedObject, LoggedRequest, LoggedUser } from './event.ts';

/** Whose use is looked at. */
export interface Subject {
  kind: 'User' | 'Group';
  /** Of a service account the user that it is. */
  name: string;
}

/** A right that was used: a verb on a resource, with the names for which it was. */
export interface UsedRight {
  verb: string;
  namespace: string;
  group: string;
  resource: string;
  subresource: string;
  /** Undefined: where no name can be meant, or none was; or for too many to list them. */
  names: ReadonlySet<string> | undefined;
}

export interface UsedPath {
  verb: string;
  path: string;
}

/** More names of one right are not told apart. */
const mostNames = 1_000;
/** Rights and paths beyond this are not taken up: nobody would look at them. */
const maxRights = 20_000;
/** One request has entries for several stages, not far from each other. */
const mostRecent = 10_000;

/** What a subject did, as an audit log tells it. */
export class Use {
  readonly #subject: Subject;
  readonly #maxListed: number;
  readonly #rights = new Map<string, Omit<UsedRight, 'names'> & { names: Set<string> | undefined }>();
  readonly #paths = new Map<string, UsedPath>();
  readonly #recent = new Set<string>();
  /** Different requests that were allowed; about, where entries of one stand far from each other. */
  requests = 0;
  refused = 0;
  first = '';
  last = '';
  /** Whether there were more rights than are taken up. */
  isCut = false;
  /** Whether it wrote what needs rights that no log tells of: roles, bindings, approvals. */
  wroteRights = false;
  /** The groups that the subject was in last. */
  groups: readonly string[] = [];

  /** `maxListed`: with more names than this a right counts for all names. */
  constructor(subject: Subject, maxListed: number) {
    this.#subject = subject;
    this.#maxListed = maxListed;
  }

  add(request: LoggedRequest): void {
    const { user, impersonated = user } = request;
    const isOwn = this.#isMeant(impersonated);
    const isBehind = request.impersonated !== undefined && this.#isMeant(user);
    if (!isOwn && !isBehind) return;
    this.#count(request);
    if (!request.allowed) return;
    if (isBehind) this.#addImpersonation(impersonated);
    if (!isOwn) return;
    this.groups = impersonated.groups;
    const { target, verb, code } = request;
    if ('path' in target) this.#addPath({ verb, path: target.path });
    else {
      this.#addRight(verb, target);
      // it was not there: to make it took a second right, which the log does not have
      if (code === 201 && (verb === 'update' || verb === 'patch')) this.#addRight('create', target);
      this.wroteRights ||= isAboutRights(verb, target);
    }
  }

  get paths(): UsedPath[] {
    return [...this.#paths.values()];
  }

  get rights(): UsedRight[] {
    return [...this.#rights.values()].map(({ names, ...right }) => ({
      ...right,
      names: names !== undefined && names.size <= this.#maxListed ? names : undefined,
    }));
  }

  #isMeant({ name, groups }: LoggedUser): boolean {
    return this.#subject.kind === 'User' ? name === this.#subject.name : groups.includes(this.#subject.name);
  }

  #count({ id, at, allowed }: LoggedRequest): void {
    if (this.first === '' || at < this.first) this.first = at;
    if (at > this.last) this.last = at;
    if (id !== '' && this.#recent.has(id)) return;
    this.#recent.add(id);
    for (const oldest of this.#recent) {
      if (this.#recent.size <= mostRecent) break;
      this.#recent.delete(oldest);
    }
    if (allowed) this.requests++;
    else this.refused++;
  }

  #addPath(used: UsedPath): void {
    if (used.path === '' || used.path.includes('*')) return; // nothing that a rule could name
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
      const names = takesName(verb, subresource) && name !== '' ? new Set([name]) : undefined;
      this.#rights.set(key, { verb, ...object, names });
    } else if (name === '' || (known.names !== undefined && known.names.size >= mostNames)) {
      known.names = undefined;
    } else known.names?.add(name);
  }

  /** What it takes to be taken for somebody else. Groups that everybody has in that case were not asked for. */
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
    this.isCut ||= isFull;
    return isFull;
  }
}

/** Whether a rule for some names can allow it: not what creates objects or deletes a collection. */
function takesName(verb: string, subresource: string): boolean {
  return verb !== 'deletecollection' && (verb !== 'create' || subresource !== '');
}

function isAboutRights(verb: string, { group, resource, subresource }: LoggedObject): boolean {
  if (['get', 'list', 'watch'].includes(verb)) return false;
  if (group.startsWith('rbac.authorization.')) return true;
  return resource === 'certificatesigningrequests' && subresource !== '';
}
