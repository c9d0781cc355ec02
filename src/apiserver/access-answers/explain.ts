import type { AccessExplanationStatus, AccessGrant, AccessOpinion, PolicyRule } from '../../api/index.ts';
import type { User } from '../authn/index.ts';
import type { Attributes, Decision, Grant, PolicyIndex } from '../authz/index.ts';
import { CompiledRules, noOpinion } from '../authz/index.ts';
import type { Action } from './action.ts';
import { actionOf, allowingGrants } from './action.ts';
import type { NamedAuthorizer } from './authorizers.ts';
import { rbacName } from './authorizers.ts';
import { nearMisses } from './near-misses.ts';
import { remedyFor } from './remedy.ts';
import { maxReported, toldBinding, toldRole, toldSubject } from './told.ts';

export interface Explaining {
  authorizers: readonly NamedAuthorizer[];
  index: PolicyIndex;
  /** API group of roles with its suffix. */
  group: string;
}

/**
 * Why somebody may or may not do something. What RBAC grants is told whoever decides: it is what counts when the
 * others go away.
 */
export async function explain(
  { authorizers, index, group }: Explaining,
  asked: User,
  attributes: Attributes,
): Promise<AccessExplanationStatus> {
  const user = { ...asked, groups: [...new Set(asked.groups)] };
  const action = actionOf(attributes);
  const { by, asked: opinions, decision, errors } = await decide(authorizers, user, attributes);
  const status = {
    allowed: decision.verdict === 'allow',
    ...(by === '' ? {} : { decidedBy: by }),
    ...(decision.reason === '' ? {} : { reason: decision.reason }),
    user: user.name,
    groups: user.groups,
    ...grantsTold(index, user, action),
    asked: opinions,
  };
  if (!wouldRolesHelp(opinions)) return { ...status, errors };
  const { found, more, isCut } = nearMisses(index, user, action);
  const remedy = remedyFor(user, attributes, group);
  return {
    ...status,
    nearMisses: found,
    ...(more === 0 ? {} : { moreNearMisses: more }),
    ...(remedy === undefined ? {} : { remedy }),
    errors: isCut ? [...errors, 'there is too much to look at: near misses may be missing'] : errors,
  };
}

const verdicts = { allow: 'Allow', deny: 'Deny', noOpinion: 'NoOpinion' } as const;

/** As the chain of all authorizers does, with who it was and what each said. */
async function decide(authorizers: readonly NamedAuthorizer[], user: User, attributes: Attributes) {
  const errors: string[] = [];
  const asked: AccessOpinion[] = [];
  let last: Decision = noOpinion;
  for (const { name, authorizer } of authorizers) {
    const decision = await authorizer.authorize(user, attributes);
    const { verdict, reason } = decision;
    errors.push(...decision.errors);
    asked.push({ authorizer: name, verdict: verdicts[verdict], ...(reason === '' ? {} : { reason }) });
    if (verdict !== 'noOpinion') return { by: name, asked, decision, errors };
    if (reason !== '') last = decision;
  }
  return { by: '', asked, decision: last, errors };
}

/** It is refused, and a role would change that: RBAC was asked, and whoever came after it would not have been. */
function wouldRolesHelp(asked: readonly AccessOpinion[]): boolean {
  const isAllowed = asked.some(({ verdict }) => verdict === 'Allow');
  return !isAllowed && asked.some(({ authorizer }) => authorizer === rbacName);
}

function grantsTold(index: PolicyIndex, user: User, action: Action) {
  const grants: AccessGrant[] = [];
  let more = 0;
  const rulesOf = allowingRules(action);
  for (const grant of allowingGrants(index, user, action)) {
    if (grants.length === maxReported) more++;
    else {
      const [binding, role, subject] = [toldBinding(grant), toldRole(grant), toldSubject(grant)];
      grants.push({ binding, role, subject, rules: rulesOf(grant) });
    }
  }
  return { ...(grants.length === 0 ? {} : { grants }), ...(more === 0 ? {} : { moreGrants: more }) };
}

/** The rules of a role that allow what is asked; each role is looked at once. */
function allowingRules({ question }: Action): (grant: Grant) => PolicyRule[] {
  const known = new Map<Grant['role'], PolicyRule[]>();
  return ({ role }) => {
    const before = known.get(role);
    if (before !== undefined) return before;
    const rules = role.rules.rules.filter((rule) => question.isAllowedBy(new CompiledRules([rule])));
    known.set(role, rules);
    return rules;
  };
}
