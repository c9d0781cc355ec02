import type { PodTokens } from './types.ts';

/** Of an agent that stands alone. */
export const tokensWithoutApi: PodTokens = {
  get: () =>
    Promise.reject(
      new Error('failed to fetch token: this node has no API that could give a token: it stands alone'),
    ),
  release: () => undefined,
};
