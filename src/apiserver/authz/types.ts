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
    };

/** An authorizer's answer. `noOpinion` leaves it to the next; when nobody has one, the request is refused. */
export interface Decision {
  verdict: 'allow' | 'deny' | 'noOpinion';
  reason: string;
  errors: readonly string[];
}

export interface Authorizer {
  authorize(user: User, attributes: Attributes): Decision | Promise<Decision>;
}

export const noOpinion: Decision = { verdict: 'noOpinion', reason: '', errors: [] };

export function allow(reason: string): Decision {
  return { verdict: 'allow', reason, errors: [] };
}
