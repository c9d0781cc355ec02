/** Tokens of service accounts for the pods of this node. */

export { ApiPodTokens } from './pod-tokens.ts';
export type { PodToken, PodTokens, TokenQuestion } from './types.ts';
export { tokensWithoutApi } from './without-api.ts';
