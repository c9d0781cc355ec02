/**
 * Several control planes on one etcd: `node bench/etcd.ts [quick] [built] [three] [PART…]`, with the laboratory's etcd
 * (`scripts/lab/fetch tools`), on one member or, with `three`, on three. The parts, all of them when none is named:
 *
 *   renewals   a Lease renewed over 64 connections through 1, 2 and 3 servers, beside the same puts without a server,
 *              SQLite and a bare HTTPS server, in turns in one run
 *   following  what a server costs that only follows what another one writes
 *   reads      reads that must be fresh and reads from the cache, lists of 10,000 objects, SubjectAccessReviews
 *   start      how long a server takes to start with 10,000 and 100,000 objects, and its memory
 *   profile    where the CPU of a server goes
 */
import { loadavg } from 'node:os';
import { buildUnlessBuilt } from './apiserver/build.ts';
import { startCluster } from './etcd/cluster.ts';
import { measureFollowing } from './etcd/following.ts';
import { profileRenewals } from './etcd/profile.ts';
import { measureReads } from './etcd/reads.ts';
import { measureRenewals } from './etcd/renewals.ts';
import { measureStart } from './etcd/start.ts';
import { printRow } from './report.ts';

const parts = {
  renewals: measureRenewals,
  following: measureFollowing,
  reads: measureReads,
  start: measureStart,
  profile: profileRenewals,
};

const words = new Set(process.argv.slice(2));
const named = Object.entries(parts).filter(([name]) => words.has(name));

await buildUnlessBuilt();
await using cluster = await startCluster(words.has('three') ? 3 : 1);
for (const [name, run] of named.length > 0 ? named : Object.entries(parts)) {
  printRow([`${name}, load before: ${loadavg()[0]?.toFixed(1)}`]);
  await run(cluster, words.has('quick'));
  printRow([`load after: ${loadavg()[0]?.toFixed(1)}`]);
}
