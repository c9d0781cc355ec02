import type { AccessHolder, AccessQueryStatus } from '../../api/index.ts';
import type { User } from '../authn/index.ts';
import { authenticatedGroup, mastersGroup, nodesGroup } from '../authn/index.ts';
import type { Attributes, Grant } from '../authz/index.ts';
import type { NamedAuthorizer } from './authorizers.ts';
import { rbacName } from './authorizers.ts';
import type { ExplainContext } from './explain.ts';
import { bindingReference, maxReported, roleReference, subjectReference } from './references.ts';
import type { Action } from './requested-action.ts';
import { toAction } from './requested-action.ts';
import { inOwnNamespace } from './served-resources.ts';
import { cannotListRules, findUnlistedAuthorizers } from './unlisted-authorizers.ts';

/** Bindings that are listed for one subject. */
const maxThrough = 20;

/**
 * Lists who may do something: all subjects of bindings to a role that allows it, and the groups that need no role. It
 * examines every grant in scope, and every role once.
 */
export async function listWhoCan(
  { authorizers, index }: ExplainContext,
  question: Attributes,
): Promise<AccessQueryStatus> {
  const attributes = inOwnNamespace(question);
  const action = toAction(attributes);
  const others = await findHoldersWithoutRoles(authorizers, attributes);
  const holders = new Holders();
  const allows = createRoleCheck(action);
  const unlisted = await findUnlistedAuthorizers(authorizers);
  const wasVisited = (grant: Grant) =>
    [...index.grantsIn('', holderOf(grant))].some((each) => each.kind === grant.kind && allows(each.role));
  for (const scope of action.scopes) {
    const before = scope === '' ? undefined : wasVisited;
    index.eachIn(scope, (grant, isNext) => {
      if (!isNext) holders.next();
      if (allows(grant.role)) holders.add(grant, isNext, before);
    });
  }
  return {
    subjects: [...others, ...holders.list()],
    ...(holders.more === 0 ? {} : { moreSubjects: holders.more }),
    ...(unlisted.length === 0 ? {} : { incomplete: true, errors: unlisted.map(formatOmission) }),
  };
}

function formatOmission(name: string): string {
  return `incomplete: ${name} cannot tell whom it allows what, and may allow others`;
}

function createRoleCheck({ question }: Action): (role: Grant['role']) => boolean {
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

/** Subjects with their bindings; those beyond the limit are only counted. */
class Holders {
  readonly #found = {
    User: new Map<string, AccessHolder>(),
    Group: new Map<string, AccessHolder>(),
    ServiceAccount: new Map<string, AccessHolder>(),
  };
  #kept = 0;
  /** The kinds of subject as which the current holder was counted; the grants of a holder are visited consecutively. */
  #kinds = 0;
  more = 0;

  /** The following grants are those of another user or group. */
  next(): void {
    this.#kinds = 0;
  }

  /** `wasVisited`: whether a subject was found in the previous scope; undefined in the first scope, where all are new. */
  add(grant: Grant, isNext: boolean, wasVisited: ((grant: Grant) => boolean) | undefined): void {
    const found = this.#found[grant.kind];
    const known = isNext || wasVisited !== undefined ? found.get(grant.holder) : undefined;
    if (known !== undefined) {
      const { through = [] } = known;
      if (through.length < maxThrough) through.push(toThrough(grant));
    } else if (this.#kept < maxReported) {
      this.#kept++;
      found.set(grant.holder, { subject: subjectReference(grant), through: [toThrough(grant)] });
    } else if ((this.#kinds & bits[grant.kind]) === 0) {
      this.#kinds |= bits[grant.kind];
      if (!wasVisited?.(grant)) this.more++;
    }
  }

  list(): AccessHolder[] {
    return Object.values(this.#found).flatMap((found) => [...found.values()]);
  }
}

function toThrough(grant: Grant) {
  return { binding: bindingReference(grant), role: roleReference(grant) };
}

/** Finds who may do it without a role: masters, all users what concerns themselves, node agents what concerns their node. */
async function findHoldersWithoutRoles(
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
    if (name === rbacName || (await cannotListRules(authorizer))) continue;
    for (const { user, subject } of probes) {
      const { verdict } = await authorizer.authorize(user, attributes);
      if (verdict === 'allow') found.push({ subject, authorizer: name });
    }
  }
  return found;
}
