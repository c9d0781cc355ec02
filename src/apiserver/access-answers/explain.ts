import type { AccessExplanationStatus, AccessGrant, AccessOpinion, PolicyRule } from '../../api/index.ts';
import type { User } from '../authn/index.ts';
import type { Attributes, Decision, Grant, PolicyIndex } from '../authz/index.ts';
import { CompiledRules, noOpinion } from '../authz/index.ts';
import type { NamedAuthorizer } from './authorizers.ts';
import { rbacName } from './authorizers.ts';
import { findNearMisses } from './near-misses.ts';
import { bindingReference, maxReported, roleReference, subjectReference } from './references.ts';
import { suggestRemedy } from './remedy.ts';
import type { Action } from './requested-action.ts';
import { findAllowingGrants, toAction } from './requested-action.ts';
import { inOwnNamespace } from './served-resources.ts';

export interface ExplainContext {
  authorizers: readonly NamedAuthorizer[];
  index: PolicyIndex;
  /** API group of roles with its suffix. */
  group: string;
}

/**
 * Explains why a user may or may not do something. The grants of RBAC are listed whichever authorizer decides: they are what
 * counts once the other authorizers are gone.
 */
export async function explain(
  { authorizers, index, group }: ExplainContext,
  asked: User,
  question: Attributes,
): Promise<AccessExplanationStatus> {
  const attributes = inOwnNamespace(question);
  const user = { ...asked, groups: [...new Set(asked.groups)] };
  const action = toAction(attributes);
  const { by, asked: opinions, decision, errors } = await decide(authorizers, user, attributes);
  const status = {
    allowed: decision.verdict === 'allow',
    ...(by === '' ? {} : { decidedBy: by }),
    ...(decision.reason === '' ? {} : { reason: decision.reason }),
    user: user.name,
    groups: user.groups,
    ...listGrants(index, user, action),
    asked: opinions,
  };
  if (!wouldRolesHelp(opinions)) return { ...status, errors };
  const { found, more, isCut } = findNearMisses(index, user, action);
  const remedy = suggestRemedy(user, attributes, group);
  return {
    ...status,
    nearMisses: found,
    ...(more === 0 ? {} : { moreNearMisses: more }),
    ...(remedy === undefined ? {} : { remedy }),
    errors: isCut ? [...errors, 'there is too much to look at: near misses may be missing'] : errors,
  };
}

const verdicts = { allow: 'Allow', deny: 'Deny', noOpinion: 'NoOpinion' } as const;

/** Decides like the chain of all authorizers, and returns which one decided and the verdict of each. */
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

/** Whether the request is refused and a role could change that: RBAC was asked, and no authorizer allowed it. */
function wouldRolesHelp(asked: readonly AccessOpinion[]): boolean {
  const isAllowed = asked.some(({ verdict }) => verdict === 'Allow');
  return !isAllowed && asked.some(({ authorizer }) => authorizer === rbacName);
}

function listGrants(index: PolicyIndex, user: User, action: Action) {
  const grants: AccessGrant[] = [];
  let more = 0;
  const rulesOf = createRuleFilter(action);
  for (const grant of findAllowingGrants(index, user, action)) {
    if (grants.length === maxReported) more++;
    else {
      const [binding, role, subject] = [
        bindingReference(grant),
        roleReference(grant),
        subjectReference(grant),
      ];
      grants.push({ binding, role, subject, rules: rulesOf(grant) });
    }
  }
  return { ...(grants.length === 0 ? {} : { grants }), ...(more === 0 ? {} : { moreGrants: more }) };
}

/** Creates a function that returns the rules of a grant's role that allow the action; each role is examined once. */
function createRuleFilter({ question }: Action): (grant: Grant) => PolicyRule[] {
  const known = new Map<Grant['role'], PolicyRule[]>();
  return ({ role }) => {
    const before = known.get(role);
    if (before !== undefined) return before;
    const rules = role.rules.rules.filter((rule) => question.isAllowedBy(new CompiledRules([rule])));
    known.set(role, rules);
    return rules;
  };
}
