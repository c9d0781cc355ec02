import type { Known, PodObjects } from './types.ts';

const refused: Known<never> = {
  state: 'refused',
  message: 'this node has no API: it stands alone',
};

/** Of an agent that stands alone. */
export const objectsWithoutApi: PodObjects = {
  hold: () => undefined,
  follow: () => undefined,
  release: () => undefined,
  configMap: () => refused,
  secret: () => refused,
  trustAnchors: () => refused,
  onChange: () => ({ [Symbol.dispose]: () => undefined }),
};
