import { loadavg } from 'node:os';
import { measure } from '../apiserver/load.ts';
import { pssMiB } from '../apiserver/process-cost.ts';
import { Fleet } from '../apiserver/renewals.ts';
import { printRow } from '../report.ts';
import type { Cluster } from './cluster.ts';
import { startServers } from './servers.ts';

const connections = 64;

/** Two servers, one of which is written to: at full speed, and at the pace of some thousand nodes. */
export async function measureFollowing(cluster: Cluster, quick: boolean): Promise<void> {
  await using servers = await startServers(2, cluster, '/following');
  const [writing, following] = servers.all.map(({ target }) => target);
  if (writing === undefined || following === undefined) throw new Error('two servers were to start');
  const fleet = new Fleet(1_024);
  await fleet.join(writing);
  await measure(writing, fleet.renewals(quick ? 4_000 : 6_000, connections));
  printRow([
    'renewals by one server',
    'per second',
    'its CPU µs',
    'follower µs',
    'etcd µs',
    'p50 ms',
    'p99 ms',
    'PSS MiB',
    'follower',
    'load',
  ]);
  const others = [following.pid, ...cluster.pids];
  const paces: readonly (readonly [number, number])[] = [
    [0, 5_000],
    [500, 4_000],
    [100, 1_000],
  ];
  for (let round = 0; round < (quick ? 1 : 2); round++) {
    for (const [perSecond, count] of paces) {
      const pace = perSecond === 0 ? {} : { everyMs: (connections * 1_000) / perSecond };
      const load = { ...fleet.renewals(quick ? count / 4 : count, connections), ...pace, others };
      const cost = await measure(writing, load);
      const [follower = 0, ...etcd] = cost.othersCpuMs;
      printRow([
        perSecond === 0 ? 'as many as go' : `${perSecond} a second`,
        cost.perSecond.toFixed(0),
        micro(cost.cpuMs),
        micro(follower),
        micro(etcd.reduce((sum, each) => sum + each, 0)),
        cost.p50Ms.toFixed(1),
        cost.p99Ms.toFixed(1),
        (await pssMiB(writing.pid)).toFixed(0),
        (await pssMiB(following.pid)).toFixed(0),
        loadavg()[0]?.toFixed(1) ?? '',
      ]);
    }
  }
}

const micro = (milliseconds: number) => (milliseconds * 1_000).toFixed(0);
