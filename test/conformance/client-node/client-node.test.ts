/** The JavaScript client, `@kubernetes/client-node`, as its users use it. */
import { after, before } from 'node:test';
import type { Cluster } from './cluster.ts';
import { startCluster } from './cluster.ts';
import { dynamicSuite } from './dynamic.ts';
import { objectsSuite } from './objects.ts';
import { patchesSuite } from './patches.ts';
import { reviewsSuite } from './reviews.ts';
import { watchingSuite } from './watching.ts';

let cluster: Cluster;
before(async () => {
  cluster = await startCluster();
});
after(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

for (const suite of [objectsSuite, patchesSuite, reviewsSuite, watchingSuite, dynamicSuite])
  suite(() => cluster);
