import type { Infer } from '../../schema/index.ts';
import { bool, field, list, required, string, struct } from '../../schema/index.ts';
import { defineKind, objectStruct } from '../define.ts';
import { userInfo } from './user-info.ts';

const spec = struct('TokenReviewSpec', {
  token: field(1, string, 'The bearer token.'),
  audiences: field(2, list(string), 'Whom the token may be for, one is enough; the API server when empty.'),
});

const status = struct('TokenReviewStatus', {
  authenticated: field(1, bool, 'Whether the token was authenticated.'),
  user: field(2, userInfo, 'Who that is.', { default: {} }),
  error: field(3, string, 'Why the token could not be checked.'),
  audiences: field(4, list(string), 'Those of the audiences asked for that the token is for.'),
});

const root = objectStruct('TokenReview', {
  spec: required(2, spec, 'The question.'),
  status: field(3, status, 'The answer, filled in by the server.', { default: {} }),
});

/** Asks for the user of a bearer token. */
export interface TokenReview extends Infer<typeof root> {}

export const tokenReviewKind = defineKind<TokenReview>({
  group: 'authentication',
  version: 'v1',
  kind: 'TokenReview',
  doc: 'Asks whose a token is, and whether it is good.',
  resource: 'tokenreviews',
  singular: 'tokenreview',
  namespaced: false,
  virtual: true,
  verbs: ['create'],
  root,
  sensitive: true,
});
