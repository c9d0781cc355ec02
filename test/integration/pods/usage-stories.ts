import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { startOnTerminal, waitFor } from '../../support/index.ts';
import { fetched, kubectl } from '../lab/index.ts';
import { nodeward, program } from '../nodeward/index.ts';
import { isRunningAndReady, uidOf } from './conditions.ts';
import { script } from './containers.ts';
import { eventsOfKills, killsOf } from './oom-stories.ts';
import type { PodNode } from './pod-node.ts';
import { until } from './stories.ts';

const programs = ['kubectl-1.20/bin/kubectl', 'kubectl-1.32/bin/kubectl', 'tools/bin/kubectl'];
const mebibyte = 2 ** 20;

interface ContainerSummary {
  name: string;
  cpu: { usageCoreNanoSeconds: number };
  memory: { workingSetBytes: number; usageBytes: number };
  logs: { usedBytes: number };
  rootfs: { usedBytes: number };
}
interface PodSummary {
  podRef: { name: string };
  containers: ContainerSummary[];
  memory: { workingSetBytes: number };
  network: { interfaces: { name: string }[] };
  volume: { name: string; usedBytes: number }[];
  'ephemeral-storage': { usedBytes: number };
}

/** A container that is as busy as its limit lets it, holds 40 MiB in memory and has written 5 MiB to a volume. */
export async function showsUsage(lab: PodNode): Promise<void> {
  const words =
    'dd if=/dev/zero of=/dev/shm/held bs=1M count=40; dd if=/dev/zero of=/data/file bs=1M count=5; echo ready; while :; do :; done';
  const main = script('main', words, {
    resources: { requests: { cpu: '10m' }, limits: { cpu: '200m', memory: '200Mi' } },
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
  });
  const side = script('side', 'tail /dev/zero; sleep 3600', { resources: { limits: { memory: '32Mi' } } });
  const pod = await lab.run('uses', { containers: [main, side], volumes: [{ name: 'data', emptyDir: {} }] });
  await until(lab, 'it to run', pod, isRunningAndReady);
  const summary = await waitFor('40 MiB in use', async () => {
    const text = (await lab.kubectl.run(['get', '--raw', '/api/v1/nodes/lab/proxy/stats/summary'])).stdout;
    const { pods }: { pods: PodSummary[] } = JSON.parse(text);
    const found = pods.find(({ podRef }) => podRef.name === 'uses');
    const held = (found?.memory.workingSetBytes ?? 0) > 40 * mebibyte;
    return held && (found?.volume[0]?.usedBytes ?? 0) >= 5 * mebibyte && found;
  });
  compareWithKernel(lab, uidOf(pod), summary);
  assert.equal(summary.network.interfaces[0]?.name, 'eth0');
  assert(summary['ephemeral-storage'].usedBytes >= 5 * mebibyte);
  await showsTop(lab);
  await showsOwnTop(lab);
  await tellsOfKill(lab);
  await lab.delete('uses', 0);
}

/** The kernel's own figures, a moment later. */
function compareWithKernel({ node }: PodNode, uid: string, summary: PodSummary): void {
  const path = `${node.cgroup}/kubepods/burstable/pod${uid}`;
  const usage = Number(readFileSync(`/sys/fs/cgroup/memory/${path}/memory.usage_in_bytes`, 'utf8'));
  const used = summary.memory.workingSetBytes;
  assert(used > 40 * mebibyte && used < 200 * mebibyte, `${used}`);
  assert(used <= usage + 20 * mebibyte, `${used} of ${usage}`);
  const cpuTime = Number(readFileSync(`/sys/fs/cgroup/cpuacct/${path}/cpuacct.usage`, 'utf8'));
  const main = summary.containers.find(({ name }) => name === 'main');
  const { usageCoreNanoSeconds = 0 } = main?.cpu ?? {};
  assert(
    usageCoreNanoSeconds > 0 && usageCoreNanoSeconds <= cpuTime,
    `${usageCoreNanoSeconds} of ${cpuTime}`,
  );
}

interface OwnTop {
  node: {
    name: string;
    cpu: { usedNanoCores: number; allocatableNanoCores: number };
    memory: { workingSetBytes: number; allocatableBytes: number; untilEvictionBytes: number };
    disks: { of: string; usedBytes: number; capacityBytes: number }[];
    processes: { used: number; max: number };
  };
  pods: {
    name: string;
    status: string;
    ready: { count: number; of: number };
    memoryLimitBytes?: number;
    ephemeralBytes: number;
    containers: {
      name: string;
      cpuNanoCores: number;
      memoryBytes: number;
      memoryShare: number;
      throttledShare: number;
      restarts: number;
      isReady: boolean;
    }[];
  }[];
}

/** `nodeward top` asks the agent itself; the container has a fifth of a CPU and wants a whole one. */
async function showsOwnTop(lab: PodNode): Promise<void> {
  const flags = ['--root-dir', lab.rootDir, '--pod', 'uses'];
  const top = async (...more: string[]) => {
    const { code, stdout, stderr } = await nodeward(['top', ...flags, ...more]);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const { node, pods }: OwnTop = JSON.parse(await top('-o', 'json'));
  assert.equal(node.name, lab.name);
  assert(node.cpu.usedNanoCores > 0 && node.cpu.allocatableNanoCores >= 1e9);
  const { workingSetBytes, allocatableBytes, untilEvictionBytes } = node.memory;
  assert(workingSetBytes > 40 * mebibyte && allocatableBytes > 40 * mebibyte && untilEvictionBytes > 0);
  assert(node.disks.some(({ of, usedBytes, capacityBytes }) => of === 'node' && usedBytes <= capacityBytes));
  assert(node.processes.used > 1 && node.processes.used < node.processes.max);
  const [pod, ...others] = pods;
  const main = pod?.containers.find(({ name }) => name === 'main');
  assert.deepEqual([pod?.name, others, main?.isReady, main?.restarts], ['uses', [], true, 0]);
  assert((pod?.ephemeralBytes ?? 0) >= 5 * mebibyte);
  assert((main?.throttledShare ?? 0) > 0.2, JSON.stringify(main));
  assert((main?.memoryBytes ?? 0) > 40 * mebibyte && Math.abs((main?.memoryShare ?? 0) - 0.3) < 0.15);
  const [line = ''] = /^default\/uses .*$/m.exec(await top('--containers')) ?? [];
  assert.match(line, /\d+m +\d+\.\d MiB .* 2\/2 /);

  const command = lab.node.inside(program[0], [program[1], 'top', ...flags]);
  await using live = await startOnTerminal(command, { columns: 100, rows: 24 });
  await live.waitForRow(/^default\/uses +\d+m /, { timeoutMs: 60_000 });
  live.type('p');
  await live.waitForRow(/^ {2}main +\d+m +\d+\.\d MiB /, { timeoutMs: 60_000 });
  live.type('q');
  assert.deepEqual(await live.ended, { code: 0, isCooked: true });
}

async function showsTop(lab: PodNode): Promise<void> {
  const { kubeconfig = '' } = lab.agent.summary;
  for (const path of programs) {
    const { run } = kubectl(kubeconfig, dirname(lab.rootDir), fetched(path));
    const top = async (...argv: string[]) => {
      const { code, stdout, stderr } = await run(['top', ...argv]);
      assert.equal(code, 0, `${path} top ${argv.join(' ')}: ${stderr}`);
      return stdout;
    };
    const pods = await waitFor(`${path} to show the pod`, async () => {
      const { stdout } = await run(['top', 'pods', '-A', '--containers', '--sort-by=cpu']);
      return /^default +uses +main +/m.test(stdout) && stdout;
    });
    const [, cpu, memory] = /^default +uses +main +(\d+)m +(\d+)Mi/m.exec(pods) ?? [];
    assert(Number(cpu) >= 1 && Number(cpu) <= 400, pods);
    assert(Number(memory) >= 40 && Number(memory) <= 200, pods);
    assert.match(pods, /^default +uses +side +\d+m +\d+Mi/m);
    assert.match(await top('pods', 'uses'), /^uses +\d+m +\d+Mi/m);
    assert.match(await top('nodes'), /^lab +\d+m +\d+% +\d+Mi +\d+%/m);
    if (!path.includes('1.20')) assert.match(await top('pods', '--sum'), /^ +\d+m +\d+Mi/m);
  }
}

/** Of a process beside the first one: the container runs on, and its runtime says nothing. */
async function tellsOfKill(lab: PodNode): Promise<void> {
  const [event] = await waitFor('the Event', async () => {
    const events = await eventsOfKills(lab, 'uses');
    return events.length > 0 && events;
  });
  assert.equal(event?.involvedObject?.fieldPath, 'spec.containers{side}');
  assert.match(
    event.message ?? '',
    /^the kernel killed the process "tail" \(pid \d+, \d+Mi in memory\) of container side for want of memory: its limit of memory is 32Mi, .*; the container runs on$/,
  );
  assert.equal(await killsOf(lab, 'uses', 'side'), 1);
  assert.equal(await killsOf(lab, 'uses', 'main'), 0);
  const path = '/api/v1/nodes/lab/proxy/pods/explain/default/uses';
  const { stdout } = await lab.kubectl.run(['get', '--raw', path]);
  assert.match(stdout, /OOMKilling: the kernel killed the process \\"tail\\"/);
}
