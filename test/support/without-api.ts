import { objectsWithoutApi, servicesWithoutApi } from '../../src/agent/objects/index.ts';
import type { PodProbes } from '../../src/agent/probes/index.ts';
import { tokensWithoutApi } from '../../src/agent/tokens/index.ts';
import type { PodVolumesOptions } from '../../src/agent/volumes/index.ts';
import { storageWithoutApi } from '../../src/agent/volumes/index.ts';

/** What volumes get from the API, where there is none. */
export const withoutApi: Pick<
  PodVolumesOptions,
  'objects' | 'tokens' | 'storage' | 'downward' | 'report' | 'reportClaim' | 'imageMountFault'
> = {
  objects: objectsWithoutApi,
  tokens: tokensWithoutApi,
  storage: storageWithoutApi,
  downward: () => ({ podIps: [], node: { hostIps: [], allocatable: {} } }),
  report: () => undefined,
  reportClaim: () => undefined,
  imageMountFault: () => undefined,
};

const withoutProbes: PodProbes = {
  follow: () => new Map(),
  waitsOf: () => new Map(),
  forget: () => undefined,
  onChange: () => ({ [Symbol.dispose]: () => undefined }),
};

/** What the API gives to pods, where there is none. */
export const givenWithoutApi = {
  objects: objectsWithoutApi,
  services: servicesWithoutApi,
  probes: withoutProbes,
  hostIps: () => [],
};
