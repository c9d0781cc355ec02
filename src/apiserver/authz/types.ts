import type { FieldRequirement, LabelRequirement, NonResourceRule, ResourceRule } from '../../api/index.ts';
import type { User } from '../authn/index.ts';

/** What a user wants to do: with an object of the API, or with a path outside of it. */
export type Attributes =
  | { verb: string; path: string }
  | {
      verb: string;
      /** With its suffix; empty for the core group. */
      group: string;
      version: string;
      resource: string;
      subresource: string;
      namespace: string;
      name: string;
      /** The node to whose pods a field selector limits a list or watch; set whether or not selectors are passed on. */
      nodeName?: string;
      /** They narrow the request; an authorizer may ignore them. */
      selectors?: { fields: readonly FieldRequirement[]; labels: readonly LabelRequirement[] };
    };

/** An authorizer's answer. `noOpinion` leaves the decision to the next one; without any opinion the request is refused. */
export interface Decision {
  readonly verdict: 'allow' | 'deny' | 'noOpinion';
  readonly reason: string;
  readonly errors: readonly string[];
}

/** What a user may do, as far as it can be listed. Rules are additive: none takes away what another gives. */
export interface RuleList {
  resourceRules: readonly ResourceRule[];
  nonResourceRules: readonly NonResourceRule[];
  /** Whether there may be more. */
  incomplete: boolean;
  errors: readonly string[];
}

export interface Authorizer {
  authorize(user: User, attributes: Attributes): Decision | Promise<Decision>;
  /** Lists what it allows in a namespace; an authorizer without this method cannot list it. */
  rules?(user: User, namespace: string): RuleList | Promise<RuleList>;
}

export const noOpinion: Decision = { verdict: 'noOpinion', reason: '', errors: [] };

export function allow(reason: string): Decision {
  return { verdict: 'allow', reason, errors: [] };
}

export const noRules: RuleList = { resourceRules: [], nonResourceRules: [], incomplete: false, errors: [] };
