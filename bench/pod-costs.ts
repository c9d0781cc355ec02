/** What the processes of a node that runs pods cost: of the agent, its control plane, and the runtime with all it starts. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { controlPlaneOf } from '../test/integration/nodeward/index.ts';
import type { PodNode } from '../test/integration/pods/index.ts';
import { cpuMs, programsMs, pssMiB } from './apiserver/process-cost.ts';

/** CPU time in milliseconds. */
export interface CpuTimes {
  readonly agent: number;
  /** What the agent ran: mount, umount. */
  readonly programs: number;
  readonly controlPlane: number;
  readonly containerd: number;
  /** The shims, runc, the plugins of the network and what they run; not what runs in containers. */
  readonly started: number;
}

export interface Memory {
  readonly agentMiB: number;
  readonly controlPlaneMiB: number;
  readonly containerdMiB: number;
}

/** Where a machine with v1 counts the CPU time of a cgroup, and where one with v2 does. */
const v1Folder = '/sys/fs/cgroup/cpuacct';
const v2Folder = '/sys/fs/cgroup';

/** Counts for one node. What the runtime starts stays in its cgroup, until it becomes a container. */
export class PodCosts {
  readonly #node: PodNode;
  readonly #usedMs: () => Promise<number>;

  private constructor(node: PodNode, usedMs: () => Promise<number>) {
    this.#node = node;
    this.#usedMs = usedMs;
  }

  static async of(node: PodNode): Promise<PodCosts> {
    const { cgroup, containerd } = node.node;
    const isV1 = (await readFile('/proc/self/cgroup', 'utf8')).includes('cpuacct');
    const folder = `${isV1 ? v1Folder : v2Folder}/${cgroup}/runtime`;
    await mkdir(folder, { recursive: true });
    await writeFile(`${folder}/cgroup.procs`, String(containerd.pid));
    return new PodCosts(node, () => (isV1 ? usedV1(folder) : usedV2(folder)));
  }

  async cpu(): Promise<CpuTimes> {
    const { agent, node } = this.#node;
    const containerd = await cpuMs(node.containerd.pid);
    return {
      agent: await cpuMs(agent.pid),
      programs: await programsMs(agent.pid),
      controlPlane: await cpuMs(await this.#controlPlane()),
      containerd,
      started: (await this.#usedMs()) - containerd,
    };
  }

  async memory(): Promise<Memory> {
    const { agent, node } = this.#node;
    return {
      agentMiB: await pssMiB(agent.pid),
      controlPlaneMiB: await pssMiB(await this.#controlPlane()),
      containerdMiB: await pssMiB(node.containerd.pid),
    };
  }

  async #controlPlane(): Promise<number> {
    const pid = await controlPlaneOf(this.#node.agent.pid);
    if (pid === undefined) throw new Error('the agent has no control plane');
    return pid;
  }
}

async function usedV1(folder: string): Promise<number> {
  return Number(await readFile(`${folder}/cpuacct.usage`, 'utf8')) / 1e6;
}

async function usedV2(folder: string): Promise<number> {
  const stat = await readFile(`${folder}/cpu.stat`, 'utf8');
  return Number(/^usage_usec (\d+)$/m.exec(stat)?.[1]) / 1000;
}

/** What was used between two counts, divided by a number: of pods, or of milliseconds. */
export function perEach(before: CpuTimes, after: CpuTimes, by: number): CpuTimes {
  return {
    agent: (after.agent - before.agent) / by,
    programs: (after.programs - before.programs) / by,
    controlPlane: (after.controlPlane - before.controlPlane) / by,
    containerd: (after.containerd - before.containerd) / by,
    started: (after.started - before.started) / by,
  };
}
