import type { AccessHolder, AccessQueryStatus } from '../../api/index.ts';
import type { User } from '../authn/index.ts';
import { authenticatedGroup, mastersGroup, nodesGroup } from '../authn/index.ts';
import type { Attributes, Grant } from '../authz/index.ts';
import type { Action } from './action.ts';
import { actionOf } from './action.ts';
import type { NamedAuthorizer } from './authorizers.ts';
import { rbacName } from './authorizers.ts';
import type { Explaining } from './explain.ts';
import { isOpaque, opaqueAuthorizers } from './opaque.ts';
import { maxReported, toldBinding, toldRole, toldSubject } from './told.ts';

/** So many bindings are told of one subject. */
const maxThrough = 20;

/**
 * Who may do something: all subjects of bindings that give a role that allows it, and the groups that need none. Every
 * grant that counts is looked at, every role is asked once.
 */
export async function whoCan(
  { authorizers, index }: Explaining,
  attributes: Attributes,
): Promise<AccessQueryStatus> {
  const action = actionOf(attributes);
  const others = await withoutRoles(authorizers, attributes);
  const holders = new Holders();
  const allows = allowingRoles(action);
  const opaque = await opaqueAuthorizers(authorizers);
  const isMet = (grant: Grant) =>
    [...index.grantsIn('', holderOf(grant))].some((each) => each.kind === grant.kind && allows(each.role));
  for (const scope of action.scopes) {
    const before = scope === '' ? undefined : isMet;
    index.eachIn(scope, (grant, isNext) => {
      if (!isNext) holders.next();
      if (allows(grant.role)) holders.add(grant, isNext, before);
    });
  }
  return {
    subjects: [...others, ...holders.told()],
    ...(holders.more === 0 ? {} : { moreSubjects: holders.more }),
    ...(opaque.length === 0 ? {} : { incomplete: true, errors: opaque.map(beside) }),
  };
}

function beside(name: string): string {
  return `incomplete: ${name} cannot tell whom it allows what, and may allow others`;
}

function allowingRoles({ question }: Action): (role: Grant['role']) => boolean {
  const known = new Map<Grant['role'], boolean>();
  return (role) => {
    const before = known.get(role);
    if (before !== undefined) return before;
    const isAllowed = question.isAllowedBy(role.rules);
    known.set(role, isAllowed);
    return isAllowed;
  };
}

function holderOf({ kind, holder }: Grant): User {
  return kind === 'Group'
    ? { name: '', groups: [holder], extra: {} }
    : { name: holder, groups: [], extra: {} };
}

const bits = { User: 1, Group: 2, ServiceAccount: 4 } as const;

/** Subjects with what they have; only the first ones are kept, the others are counted. */
class Holders {
  readonly #found = {
    User: new Map<string, AccessHolder>(),
    Group: new Map<string, AccessHolder>(),
    ServiceAccount: new Map<string, AccessHolder>(),
  };
  #kept = 0;
  /** The kinds of subject as which the holder was counted, whose grants come in a row. */
  #kinds = 0;
  more = 0;

  /** What follows is for another user or group. */
  next(): void {
    this.#kinds = 0;
  }

  /** `isMet`: whether a subject was there in the scope before; undefined in the first one, where all are new. */
  add(grant: Grant, isNext: boolean, isMet: ((grant: Grant) => boolean) | undefined): void {
    const found = this.#found[grant.kind];
    const known = isNext || isMet !== undefined ? found.get(grant.holder) : undefined;
    if (known !== undefined) {
      const { through = [] } = known;
      if (through.length < maxThrough) through.push(throughOf(grant));
    } else if (this.#kept < maxReported) {
      this.#kept++;
      found.set(grant.holder, { subject: toldSubject(grant), through: [throughOf(grant)] });
    } else if ((this.#kinds & bits[grant.kind]) === 0) {
      this.#kinds |= bits[grant.kind];
      if (!isMet?.(grant)) this.more++;
    }
  }

  told(): AccessHolder[] {
    return Object.values(this.#found).flatMap((found) => [...found.values()]);
  }
}

function throughOf(grant: Grant) {
  return { binding: toldBinding(grant), role: toldRole(grant) };
}

/** Whom another authorizer than RBAC lets do it: masters, everybody about themselves, node agents with what is theirs. */
async function withoutRoles(
  authorizers: readonly NamedAuthorizer[],
  attributes: Attributes,
): Promise<AccessHolder[]> {
  const node = 'path' in attributes || attributes.name === '' ? undefined : `system:node:${attributes.name}`;
  const probes: { user: User; subject: AccessHolder['subject'] }[] = [
    ...[mastersGroup, authenticatedGroup].map((group) => ({
      user: { name: '', groups: [group], extra: {} },
      subject: { kind: 'Group', name: group },
    })),
    {
      user: { name: node ?? 'system:node:any', groups: [nodesGroup], extra: {} },
      subject: node === undefined ? { kind: 'Group', name: nodesGroup } : { kind: 'User', name: node },
    },
  ];
  const found: AccessHolder[] = [];
  for (const { name, authorizer } of authorizers) {
    if (name === rbacName || (await isOpaque(authorizer))) continue;
    for (const { user, subject } of probes) {
      const { verdict } = await authorizer.authorize(user, attributes);
      if (verdict === 'allow') found.push({ subject, authorizer: name });
    }
  }
  return found;
}
