/**
 * What running pods costs: `node bench/pods.ts [built] [quick] [profile=FOLDER] [PART…]`, as root, with the laboratory's containerd.
 * An agent with its control plane runs in a node of the lab, with a bridge for pods; times are from the request to the event of a
 * watch. The parts, all of them when none is named:
 *
 *   singles   pods one after the other, with the usual token and without, in turns
 *   many      100 pods at once, with tokens; what each start costs, what 100 idle pods cost, exits beside them, their end
 *
 * Beside each figure stands the reference's, measured earlier on another day on two cores of this kind: with a load beside
 * it, so its times are upper bounds; what it used of the CPU holds. `profile`: V8's profiles of where the CPU goes are there then.
 */
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pod } from '../src/api/index.ts';
import type { PodNode, PodNodeOptions } from '../test/integration/pods/index.ts';
import {
  containerOf,
  isRunningAndReady,
  sleeper,
  startPodNode,
  uidOf,
} from '../test/integration/pods/index.ts';
import { sendSignal } from '../test/support/index.ts';
import { buildUnlessBuilt } from './apiserver/build.ts';
import type { CpuTimes } from './pod-costs.ts';
import { PodCosts, perEach } from './pod-costs.ts';
import { printRow } from './report.ts';

const words = process.argv.slice(2);
const quick = words.includes('quick');
const rounds = quick ? 5 : 20;
const many = quick ? 20 : 100;
const idleMs = quick ? 10_000 : 30_000;
/** Together with the others not more than a node takes. */
const exitsAtOnce = 10;
const exitRounds = quick ? 1 : 5;
const limitMs = 180_000;

/** Each as it was measured; times in milliseconds. */
const reference = {
  createOne: { plain: '337–461, 664–681', token: '754–790, 842–1296' },
  deleteOne: { plain: '687–848, 1400–1600', token: '1291–1373, 1400–2700' },
  exit: '312, 836',
  createMany: '27000, 27900',
  deleteMany: '19400, 22400, without tokens',
  perPod: { agent: '43–60', programs: '', controlPlane: '60–90', containerd: '45–65', started: '250' },
  perEnd: { agent: '', programs: '', controlPlane: '', containerd: '', started: '' },
  idle: { agent: '4.1–4.5 %', programs: '', controlPlane: '', containerd: '1.2 %', started: '' },
  empty: { agent: '0.8 %', programs: '', controlPlane: '', containerd: '', started: '' },
  memory: { agent: '88–124', controlPlane: '', containerd: '125' },
};

const at = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

const pair = (values: readonly number[], second: number): string =>
  `${at(values, 0.5).toFixed(0)}, ${at(values, second).toFixed(0)}`;

/** With room between ours and theirs. */
function print(what: string, ours: string, theirs: string): void {
  printRow([what, ours, `   ${theirs}`]);
}

const kinds = ['plain', 'token'] as const;
type Kind = (typeof kinds)[number];

async function create(lab: PodNode, name: string, kind: Kind): Promise<{ pod: Pod; ms: number }> {
  const automountServiceAccountToken = kind === 'token';
  const startedMs = performance.now();
  const pod = await lab.run(name, {
    ...{ containers: [sleeper()], restartPolicy: 'Never', automountServiceAccountToken },
  });
  const isReady = ({ pod: state }: { pod: Pod }) => isRunningAndReady(state);
  const { atMs, pod: ready } = await lab.pods.until(`${name} to be ready`, uidOf(pod), isReady, limitMs);
  return { pod: ready, ms: atMs - startedMs };
}

async function remove(lab: PodNode, pod: Pod): Promise<number> {
  const name = pod.metadata?.name ?? '';
  const startedMs = performance.now();
  await lab.delete(name);
  const { atMs } = await lab.pods.until(`${name} to be gone`, uidOf(pod), ({ isGone }) => isGone, limitMs);
  return atMs - startedMs;
}

async function oneByOne(lab: PodNode): Promise<void> {
  const creates: Record<Kind, number[]> = { plain: [], token: [] };
  const removes: Record<Kind, number[]> = { plain: [], token: [] };
  for (let round = 0; round < rounds; round++)
    for (const kind of kinds) {
      const { pod, ms } = await create(lab, `single-${kind}-${round}`, kind);
      creates[kind].push(ms);
      removes[kind].push(await remove(lab, pod));
    }
  for (const kind of kinds) {
    const which = kind === 'plain' ? 'no volumes' : 'with token';
    print(`create → ready, ${which}, p50, p99 (ms)`, pair(creates[kind], 0.99), reference.createOne[kind]);
    print(`delete → gone, ${which}, p50, p99 (ms)`, pair(removes[kind], 0.99), reference.deleteOne[kind]);
  }
}

async function manyAtOnce(lab: PodNode, costs: PodCosts): Promise<Pod[]> {
  const before = await costs.cpu();
  const made = await Promise.all(
    Array.from({ length: many }, (_, index) => create(lab, `many-${index}`, 'token')),
  );
  const times = made.map(({ ms }) => ms);
  const used = perEach(before, await costs.cpu(), many);
  print(`create ${many} at once, p50, all (ms)`, pair(times, 1), reference.createMany);
  printCpu('CPU per pod started (ms)', used, reference.perPod, (ms) => ms.toFixed(0));
  return made.map(({ pod }) => pod);
}

async function idle(costs: PodCosts, title: string, others: Cells): Promise<void> {
  await sleep(quick ? 2000 : 10_000); // until what follows a start is done
  const before = await costs.cpu();
  await sleep(idleMs);
  const used = perEach(before, await costs.cpu(), idleMs);
  printCpu(`${title}, of a core`, used, others, (share) => `${(share * 100).toFixed(2)} %`);
  const { agentMiB, controlPlaneMiB, containerdMiB } = await costs.memory();
  print('memory (PSS, MiB): agent', agentMiB.toFixed(0), reference.memory.agent);
  print('  control plane', controlPlaneMiB.toFixed(0), reference.memory.controlPlane);
  print('  containerd', containerdMiB.toFixed(0), reference.memory.containerd);
}

/** From SIGKILL to its first process until the API says that the container has ended. */
async function exits(lab: PodNode): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < exitRounds; round++) {
    const names = Array.from({ length: exitsAtOnce }, (_, index) => `exits-${round}-${index}`);
    const made = await Promise.all(names.map((name) => create(lab, name, 'plain')));
    for (const { pod } of made) times.push(await timeToExit(lab, pod));
    await Promise.all(made.map(({ pod }) => remove(lab, pod)));
  }
  print(`exit → API beside ${many} pods, p50, p99 (ms)`, pair(times, 0.99), reference.exit);
}

async function timeToExit(lab: PodNode, pod: Pod): Promise<number> {
  const pid = await firstProcess(lab, pod);
  const startedMs = performance.now();
  sendSignal(pid, 'SIGKILL');
  const hasEnded = ({ pod: state }: { pod: Pod }) => containerOf(state)?.state?.terminated !== undefined;
  const { atMs } = await lab.pods.until('the end in the status', uidOf(pod), hasEnded, limitMs);
  return atMs - startedMs;
}

async function firstProcess(lab: PodNode, pod: Pod): Promise<number> {
  const id = containerOf(pod)?.containerID?.replace('containerd://', '') ?? '';
  const rows = (await lab.node.containerd.ctr('tasks', 'ls')).split('\n');
  const pid = rows.find((row) => row.startsWith(id))?.split(/\s+/)[1];
  if (id === '' || pid === undefined) throw new Error(`pod ${pod.metadata?.name} has no process`);
  return Number(pid);
}

async function removeMany(lab: PodNode, costs: PodCosts, pods: readonly Pod[]): Promise<void> {
  const before = await costs.cpu();
  const times = await Promise.all(pods.map((pod) => remove(lab, pod)));
  const used = perEach(before, await costs.cpu(), many);
  print(`delete ${many} at once, p50, all (ms)`, pair(times, 1), reference.deleteMany);
  printCpu('CPU per pod ended (ms)', used, reference.perEnd, (ms) => ms.toFixed(0));
}

type Cells = { readonly [part in keyof CpuTimes]: string };

function printCpu(title: string, used: CpuTimes, others: Cells, format: (value: number) => string): void {
  print(`${title}: agent`, format(used.agent), others.agent);
  print('  mount, umount', format(used.programs), others.programs);
  print('  control plane (reference: with etcd)', format(used.controlPlane), others.controlPlane);
  print('  containerd', format(used.containerd), others.containerd);
  print('  shims, runc, network', format(used.started), others.started);
}

function profileOptions(): PodNodeOptions {
  const folder = words.find((word) => word.startsWith('profile='))?.slice('profile='.length);
  if (folder === undefined) return {};
  return { env: { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder} --cpu-prof-interval=500` } };
}

const printLoad = (when: string) => printRow([`load ${when}: ${loadavg()[0]?.toFixed(1)}`]);
const isMeant = (part: string) =>
  words.includes(part) || !['singles', 'many'].some((each) => words.includes(each));

await buildUnlessBuilt();
await using lab = await startPodNode(profileOptions());
const costs = await PodCosts.of(lab);
printLoad('before');
print('', 'nodeward', 'reference (then)');
for (const kind of kinds) await remove(lab, (await create(lab, `first-${kind}`, kind)).pod); // what is made once: the bridge, the cgroups
if (isMeant('singles')) await oneByOne(lab);
if (isMeant('many')) {
  await idle(costs, 'idle without pods', reference.empty);
  const pods = await manyAtOnce(lab, costs);
  await idle(costs, `idle with ${many} pods`, reference.idle);
  await exits(lab);
  await removeMany(lab, costs, pods);
}
printLoad('after');
