/** A runtime, an agent that uses it, and workloads to checkpoint. */
import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openCgroups } from '../../../src/agent/runtime/cgroup.ts';
import type { TemporaryFolder } from '../../support/index.ts';
import { childrenOf, residentBytes, temporaryFolder, waitFor } from '../../support/index.ts';
import type {
  ContainerdOptions,
  ContainerOptions,
  LabContainer,
  LabContainerd,
  Workload as Program,
} from '../lab/index.ts';
import { holdingMemory, startContainerd } from '../lab/index.ts';
import type { CurlOptions, RunningAgent } from '../nodeward/index.ts';
import { curl, startAgent } from '../nodeward/index.ts';

const mebibyte = 1024 * 1024;
const configHead = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

/** A runtime and an agent that uses it, both for a whole group of tests. */
export interface Site extends AsyncDisposable {
  runtime: LabContainerd;
  agent: RunningAgent;
  rootDir: string;
  pki: string;
  /** Names below the folder of checkpoints: each checkpoint has two files. */
  archives(): Promise<string[]>;
  /** Writes the agent's configuration anew. */
  configure(text: string): Promise<void>;
  /** The value of a metric by its name and labels as they are written; 0 when there is none. */
  metric(line: string): Promise<number>;
  /** Starts the agent anew, after it has ended. */
  startAgain(): Promise<void>;
  /** Where a checkpoint of the container `main` is asked for, on the loopback address. */
  url(pod: string, query?: string): string;
  ask(path: string, options?: CurlOptions): ReturnType<typeof curl>;
}

export interface SiteOptions extends ContainerdOptions {
  /** The agent's configuration, behind its apiVersion and kind. */
  config?: string;
  /** Called with the folder of checkpoints, before the agent starts. */
  beforeStart?(checkpoints: string, cleanup: AsyncDisposableStack): Promise<void>;
}

export async function openSite(options: SiteOptions = {}): Promise<Site> {
  await using setup = new AsyncDisposableStack();
  const home: TemporaryFolder = setup.use(await temporaryFolder('checkpoint-'));
  const rootDir = join(home.path, 'root');
  const runtime = setup.use(await startContainerd(options));
  const config = join(home.path, 'config.yaml');
  const configure = (text: string) => writeFile(config, `${configHead}${text}`);
  await configure(options.config ?? '');
  const args = ['--container-runtime-endpoint', runtime.endpoint, '--config', config];
  const start = () => startAgent({ rootDir, args });
  await mkdir(join(rootDir, 'checkpoints'), { recursive: true, mode: 0o700 });
  await options.beforeStart?.(join(rootDir, 'checkpoints'), setup);
  let agent = await start();
  setup.defer(() => agent[Symbol.asyncDispose]());
  const base = () => `https://127.0.0.1:${new URL(agent.summary.agent).port}`;
  const pki = join(rootDir, 'pki');
  const resources = setup.move();
  return {
    runtime,
    rootDir,
    pki,
    get agent() {
      return agent;
    },
    archives: async () => {
      const names = await readdir(join(rootDir, 'checkpoints'));
      return names.filter((name) => name !== '.abandoned.json').sort();
    },
    configure,
    metric: async (line) => {
      const { body } = await curl(pki, `${base()}/metrics`, { method: 'GET' });
      const found = body.split('\n').find((each) => each.startsWith(`${line} `));
      return Number(found?.slice(line.length + 1) ?? 0);
    },
    startAgain: async () => {
      agent = await start();
    },
    url: (pod, query = '') => `${base()}/checkpoint/default/${pod}/main${query}`,
    ask: (path, options) => curl(pki, `${base()}${path}`, options),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

export interface Workload {
  pod: string;
  container: LabContainer;
  remove(): Promise<void>;
}

export async function startWorkload({ runtime }: Site, options: ContainerOptions = {}): Promise<Workload> {
  const pod = await runtime.startPod();
  const container = await pod.startContainer(options);
  await container.countsOn();
  return { pod: pod.name, container, remove: () => pod.remove() };
}

/** A container whose dump takes its time. */
export async function startLarge(
  site: Site,
  mebibytes: number,
  program: Program = holdingMemory(mebibytes),
): Promise<Workload> {
  const workload = await startWorkload(site, { workload: program });
  const held = async (): Promise<boolean> => {
    const children = await childrenOf(workload.container.pid);
    const sizes = await Promise.all(children.map(({ pid }) => residentBytes(pid).catch(() => 0)));
    return Math.max(0, ...sizes) >= mebibytes * mebibyte;
  };
  await waitFor('the memory to be held', held, { timeoutMs: 30_000 });
  return workload;
}

/** A dump whose client has gone ends a moment later; a count that was written before it may still arrive meanwhile. */
export async function runsOn(site: Site, { container }: Workload): Promise<void> {
  await waitFor('the container to run again', async () => {
    return (await site.runtime.taskState(container.id)) === 'RUNNING';
  });
  await container.countsOn();
}

/** In the middle of the dump: the kernel has frozen the container. */
export async function untilFrozen({ container }: Workload): Promise<void> {
  const cgroups = openCgroups('/');
  await waitFor('the container to be frozen', () => cgroups.frozen(container.pid), { intervalMs: 2 });
}

export function pathIn(body: string): string {
  const answer: unknown = JSON.parse(body);
  assert.ok(typeof answer === 'object' && answer !== null && 'items' in answer, body);
  assert.deepEqual(Object.keys(answer), ['items']);
  const { items } = answer;
  assert.ok(Array.isArray(items) && items.length === 1 && typeof items[0] === 'string', body);
  return items[0];
}
