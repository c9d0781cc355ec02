/**
 * What an idle agent and its control plane take: `node bench/idle.ts [built] [beside=FOLDER] [runtime] [first] [seconds=90]
 * [rounds=3]`, as root. `beside` is the folder of another built program, which runs at the same time; `runtime` gives each
 * the laboratory's containerd; `first` measures a first start, which makes the certificates, instead of a later one. Each
 * program has a copy of Node.js for itself, so that its memory is what a machine with nothing else in Node.js would see.
 */
import { cp, readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LabContainerd } from '../test/integration/lab/index.ts';
import { startContainerd } from '../test/integration/lab/index.ts';
import { controlPlaneOf } from '../test/integration/nodeward/index.ts';
import type { SupervisedProcess } from '../test/support/index.ts';
import { startProcess, temporaryFolder } from '../test/support/index.ts';
import { buildUnlessBuilt } from './apiserver/build.ts';
import { cpuMs } from './apiserver/process-cost.ts';
import { printRow } from './report.ts';

const setting = (name: string): string | undefined =>
  process.argv.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
const measureMs = Number(setting('seconds') ?? 90) * 1000;
const rounds = Number(setting('rounds') ?? 3);
/** By then a process at rest has collected its garbage, which it looks at every 30 s. */
const settleMs = 100_000;
const beside = setting('beside');
const programs = [
  { name: 'new', dist: resolve(import.meta.dirname, '../dist') },
  ...(beside === undefined ? [] : [{ name: 'old', dist: resolve(beside) }]),
];

interface Used {
  readonly cpuShare: number;
  readonly wakeUps: number;
  readonly pssMiB: number;
  readonly privateMiB: number;
}

async function startAgent(
  node: string,
  dist: string,
  root: string,
  runtime: LabContainerd | undefined,
): Promise<SupervisedProcess> {
  const endpoint = runtime === undefined ? [] : ['--container-runtime-endpoint', runtime.endpoint];
  const place = [
    '--root-dir',
    root,
    '--lock-file',
    join(root, 'nodeward.lock'),
    '--port',
    '0',
    '--secure-port',
    '0',
  ];
  const agent = await startProcess(node, [join(dist, 'main.js'), 'agent', ...place, ...endpoint]);
  await agent.waitForOutput(/^nodeward is ready/m, { timeoutMs: 90_000 });
  return agent;
}

/** How often the threads of a process have begun to wait; each time but the last something woke them. */
async function waits(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const statuses = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/status`, 'utf8').catch(() => '')),
  );
  return statuses.reduce((sum, text) => sum + numberIn(text, 'voluntary_ctxt_switches'), 0);
}

const numberIn = (text: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);

async function watchIdle(pids: readonly number[]): Promise<Used[]> {
  const before = await Promise.all(pids.map(async (pid) => [await cpuMs(pid), await waits(pid)] as const));
  const sinceMs = performance.now();
  await sleep(measureMs);
  return await Promise.all(
    pids.map(async (pid, index) => {
      const tookMs = performance.now() - sinceMs;
      const [cpuBefore = 0, waitsBefore = 0] = before[index] ?? [];
      const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
      const mebibytes = (...names: string[]) =>
        names.reduce((sum, name) => sum + numberIn(rollup, name), 0) / 1024;
      return {
        cpuShare: ((await cpuMs(pid)) - cpuBefore) / tookMs,
        wakeUps: (((await waits(pid)) - waitsBefore) * 1000) / tookMs,
        pssMiB: mebibytes('Pss'),
        privateMiB: mebibytes('Private_Clean', 'Private_Dirty'),
      };
    }),
  );
}

/** An agent and its control plane, from their start until they have been watched. */
async function measure(dist: string): Promise<Used[]> {
  await using folder = await temporaryFolder('nodeward-idle-');
  await using runtime = process.argv.includes('runtime') ? await startContainerd() : undefined;
  const node = join(folder.path, 'node');
  await cp(process.execPath, node);
  const root = join(folder.path, 'root');
  if (!process.argv.includes('first')) {
    await using _ = await startAgent(node, dist, root, runtime);
  }
  await using agent = await startAgent(node, dist, root, runtime);
  await sleep(settleMs);
  const child = await controlPlaneOf(agent.pid);
  if (child === undefined) throw new Error('the agent has no control plane');
  return await watchIdle([agent.pid, child]);
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

function print(what: string, used: readonly Used[]): void {
  const of = (pick: (each: Used) => number) => median(used.map(pick));
  printRow([
    what,
    `${(of(({ cpuShare }) => cpuShare) * 100).toFixed(2)} %`,
    of(({ wakeUps }) => wakeUps).toFixed(1),
    of(({ pssMiB }) => pssMiB).toFixed(1),
    of(({ privateMiB }) => privateMiB).toFixed(1),
  ]);
}

await buildUnlessBuilt();
const found = programs.map(({ name }) => ({ name, agents: [] as Used[], controlPlanes: [] as Used[] }));
printRow(['idle', 'CPU of a core', 'wake-ups/s', 'PSS MiB', 'private MiB']);
for (let round = 1; round <= rounds; round++) {
  const results = await Promise.all(programs.map(({ dist }) => measure(dist)));
  for (const [index, [agent, controlPlane]] of results.entries()) {
    const all = found[index];
    if (all === undefined || agent === undefined || controlPlane === undefined) continue;
    all.agents.push(agent);
    all.controlPlanes.push(controlPlane);
    print(`round ${round}, ${all.name}: agent`, [agent]);
    print('  its control plane', [controlPlane]);
  }
}
for (const { name, agents, controlPlanes } of found) {
  print(`median, ${name}: agent`, agents);
  print('  its control plane', controlPlanes);
}
