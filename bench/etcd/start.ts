import { setTimeout as delay } from 'node:timers/promises';
import { cpuMs, pssMiB } from '../apiserver/process-cost.ts';
import { printRow } from '../report.ts';
import type { Cluster } from './cluster.ts';
import type { Filling } from './fill.ts';
import { fill } from './fill.ts';
import { median } from './renewals.ts';
import { startServers } from './servers.ts';

const cases: readonly (readonly [Filling | undefined, number])[] = [
  [undefined, 0],
  ['leases', 10_000],
  ['leases', 100_000],
  ['nodes', 10_000],
];

/** From the start of the process until it serves, with what it has read from etcd. */
export async function measureStart(cluster: Cluster, quick: boolean): Promise<void> {
  printRow(['start with', 'of bytes each', 'ready ms', 'least', 'CPU ms', 'PSS MiB']);
  for (const [what, count] of quick ? cases.slice(0, 2) : cases) {
    const prefix = `/start-${what}-${count}`;
    const bytes = what === undefined ? 0 : await fill(cluster, prefix, what, count);
    const starts = [];
    for (let round = 0; round < (quick ? 1 : 3); round++) {
      await using servers = await startServers(1, cluster, prefix);
      const { pid } = servers.first;
      const cpu = await cpuMs(pid);
      await delay(2_000);
      starts.push({ readyMs: servers.all[0]?.readyMs ?? 0, cpu, pss: await pssMiB(pid) });
    }
    printRow([
      `${count} ${what ?? 'objects'}`,
      String(bytes),
      median(starts, ({ readyMs }) => readyMs).toFixed(0),
      Math.min(...starts.map(({ readyMs }) => readyMs)).toFixed(0),
      median(starts, ({ cpu }) => cpu).toFixed(0),
      median(starts, ({ pss }) => pss).toFixed(0),
    ]);
  }
}
