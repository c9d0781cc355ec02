import type { FieldRequirement, LabelRequirement, NonResourceRule, ResourceRule } from '../../api/index.ts';
import type { User } from '../authn/index.ts';

/** What somebody wants to do: with an object of the API, or with a path that is none. */
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
      /** The node whose pods alone a list or watch selects, where it says so; told whatever is switched on. */
      nodeName?: string;
      /** Only with objects that they select: they narrow what is asked for, and may be passed over. */
      selectors?: { fields: readonly FieldRequirement[]; labels: readonly LabelRequirement[] };
    };

/** An authorizer's answer. `noOpinion` leaves it to the next; when nobody has one, the request is refused. */
export interface Decision {
  readonly verdict: 'allow' | 'deny' | 'noOpinion';
  readonly reason: string;
  readonly errors: readonly string[];
}

/** What somebody may do, as far as it can be listed. Rules only add up: none takes away what another gives. */
export interface RuleList {
  resourceRules: readonly ResourceRule[];
  nonResourceRules: readonly NonResourceRule[];
  /** Whether there may be more. */
  incomplete: boolean;
  errors: readonly string[];
}

export interface Authorizer {
  authorize(user: User, attributes: Attributes): Decision | Promise<Decision>;
  /** What it would allow in a namespace; an authorizer without this cannot say. */
  rules?(user: User, namespace: string): RuleList | Promise<RuleList>;
}

export const noOpinion: Decision = { verdict: 'noOpinion', reason: '', errors: [] };

export function allow(reason: string): Decision {
  return { verdict: 'allow', reason, errors: [] };
}

export const noRules: RuleList = { resourceRules: [], nonResourceRules: [], incomplete: false, errors: [] };
