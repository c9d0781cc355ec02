/**
 * What volumes with files cost: `node bench/volumes.ts [built] [quick]`, as root, with the laboratory's containerd. First the
 * files alone, in a folder of this machine; then pods of an agent with its control plane: one with twenty volumes beside one
 * without, and many that share one ConfigMap which changes.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeFiles } from '../src/agent/volumes/atomic/write.ts';
import { Folder } from '../src/agent/volumes/folder.ts';
import type { Pod } from '../src/api/index.ts';
import { configMapKind } from '../src/api/index.ts';
import type { PodNode, PodSpec } from '../test/integration/pods/index.ts';
import { isRunningAndReady, sleeper, startPodNode, uidOf } from '../test/integration/pods/index.ts';
import { temporaryFolder } from '../test/support/index.ts';
import { buildUnlessBuilt } from './apiserver/build.ts';
import { PodCosts } from './pod-costs.ts';
import { printRow } from './report.ts';

const quick = process.argv.includes('quick');
const rounds = quick ? 5 : 15;
const many = quick ? 20 : 110;
const changes = quick ? 2 : 5;
const namespace = 'default';
const limitMs = 300_000;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** 1 MiB in 5,000 files: made, looked at, and changed. */
async function filesAlone(): Promise<void> {
  await using home = await temporaryFolder('bench-volumes-');
  await using folder = await Folder.at(home.path);
  const payload = (text: string) =>
    new Map(
      Array.from({ length: 5000 }, (_, index): [string, { bytes: Buffer; mode: number }] => [
        `key-${index}`,
        { bytes: Buffer.from(text.repeat(209)), mode: 0o644 },
      ]),
    );
  for (const [what, text] of [
    ['made', 'a'],
    ['found unchanged', 'a'],
    ['changed', 'b'],
  ] as const) {
    const [startMs, cpu] = [performance.now(), process.cpuUsage()];
    await writeFiles(folder, payload(text), { nowMs: Date.now(), group: undefined });
    const { user, system } = process.cpuUsage(cpu);
    const ms = performance.now() - startMs;
    printRow([
      `5,000 files of 1 MiB ${what}`,
      `${ms.toFixed(0)} ms`,
      `CPU ${((user + system) / 1000).toFixed(0)} ms`,
    ]);
  }
}

function withVolumes(names: readonly string[], count: number): PodSpec {
  const volumes = Array.from({ length: count }, (_, index) => ({
    name: `v${index}`,
    ...(index % 2 === 0
      ? { configMap: { name: names[index % names.length] ?? '' } }
      : { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } }),
  }));
  const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/volumes/${name}` }));
  return {
    containers: [sleeper('main', { volumeMounts })],
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 0,
    volumes,
  };
}

async function create(lab: PodNode, name: string, spec: PodSpec): Promise<{ pod: Pod; ms: number }> {
  const startMs = performance.now();
  const pod = await lab.run(name, spec);
  const isReady = ({ pod: state }: { pod: Pod }) => isRunningAndReady(state);
  const { atMs, pod: ready } = await lab.pods.until(`${name} to be ready`, uidOf(pod), isReady, limitMs);
  return { pod: ready, ms: atMs - startMs };
}

async function remove(lab: PodNode, pod: Pod): Promise<void> {
  await lab.delete(pod.metadata?.name ?? '', 0);
  await lab.pods.until('it to be gone', uidOf(pod), ({ isGone }) => isGone, limitMs);
}

/** In turn, so that what else the machine does is in both. */
async function starts(lab: PodNode): Promise<void> {
  const names = Array.from({ length: 10 }, (_, index) => `c${index}`);
  for (const name of names)
    await lab.api.create(configMapKind, { metadata: { name, namespace }, data: { key: name } });
  await remove(lab, (await create(lab, 'first', withVolumes(names, 20))).pod);
  const times = new Map<number, number[]>();
  for (let round = 0; round < rounds; round++)
    for (const count of [0, 1, 20]) {
      const { pod, ms } = await create(lab, `start-${count}-${round}`, withVolumes(names, count));
      times.set(count, [...(times.get(count) ?? []), ms]);
      await remove(lab, pod);
    }
  for (const [count, each] of times)
    printRow([`create → ready with ${count} volumes, p50`, `${median(each).toFixed(0)} ms`]);
}

/** What the control plane has answered, by verb and resource, without the metrics themselves. Watches count when they end. */
async function countRequests(lab: PodNode): Promise<Map<string, number>> {
  const { stdout } = await lab.kubectl.run(['get', '--raw', '/metrics']);
  const counts = new Map<string, number>();
  for (const [, labels = '', count] of stdout.matchAll(/^apiserver_request_total\{([^}]*)\} (\d+)$/gm)) {
    const read = (name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
    const what = `${read('verb')} ${[read('resource'), read('subresource')].filter((part) => part !== '').join('/')}`;
    if (read('resource') !== '') counts.set(what, (counts.get(what) ?? 0) + Number(count));
  }
  return counts;
}

/** Many pods whose files come from one ConfigMap: from the change of that until the last file has changed. */
async function sharing(lab: PodNode, costs: PodCosts): Promise<void> {
  const metadata = { name: 'shared', namespace };
  await lab.api.create(configMapKind, { metadata, data: { key: 'before' } });
  const mount = { name: 'v', mountPath: '/v' };
  const spec: PodSpec = {
    containers: [sleeper('main', { volumeMounts: [mount] })],
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 0,
    volumes: [{ name: 'v', configMap: { name: 'shared' } }],
  };
  const pods = await Promise.all(
    Array.from({ length: many }, async (_, index) => (await create(lab, `many-${index}`, spec)).pod),
  );
  await sleep(5000); // until what follows a start is done
  const files = pods.map(({ metadata: { uid = '' } = {} }) =>
    join(lab.rootDir, 'pods', uid, 'volumes/kubernetes.io~configmap/v/key'),
  );
  const idle = await costs.cpu();
  await sleep(5000);
  const idleMs = (await costs.cpu()).agent - idle.agent;
  const times: number[] = [];
  const askedBefore = await countRequests(lab);
  const before = await costs.cpu();
  for (let change = 0; change < changes; change++) {
    const text = `change ${change}`;
    const known = await lab.api.get(configMapKind, 'shared', { namespace });
    const startMs = performance.now();
    await lab.api.replace(configMapKind, { ...known, data: { key: text } });
    for (const file of files) while ((await readFile(file, 'utf8').catch(() => '')) !== text) await sleep(2);
    times.push(performance.now() - startMs);
    await sleep(2000);
  }
  const after = await costs.cpu();
  const perChange = (part: 'agent' | 'controlPlane') => ((after[part] - before[part]) / changes).toFixed(0);
  printRow([
    `a change until the last of ${many} pods has it, p50, most`,
    `${median(times).toFixed(0)} ms`,
    `${Math.max(...times).toFixed(0)} ms`,
  ]);
  printRow([
    'CPU per change, with what is idle: agent',
    `${perChange('agent')} ms`,
    `idle ${idleMs.toFixed(0)} ms in 5 s`,
  ]);
  printRow(['  control plane', `${perChange('controlPlane')} ms`]);
  const asked = [...(await countRequests(lab))].flatMap(([what, count]) => {
    const more = count - (askedBefore.get(what) ?? 0);
    return more === 0 ? [] : [`${(more / changes).toFixed(1)} ${what}`];
  });
  printRow(['requests per change, with a get and an update of this program', asked.join(', ')]);
  await Promise.all(pods.map((pod) => remove(lab, pod)));
}

await buildUnlessBuilt();
await filesAlone();
await using lab = await startPodNode();
const costs = await PodCosts.of(lab);
await starts(lab);
await sharing(lab, costs);
