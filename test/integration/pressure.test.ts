/** What the agent says of the node when the disk or the memory runs short, and for how long. */
import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { before, describe, test } from 'node:test';
import { leaseKind, nodeKind } from '../../src/api/index.ts';
import type { ApiClient } from '../../src/client/index.ts';
import { clientOptionsOf, createClient, readKubeconfig } from '../../src/client/index.ts';
import type { SupervisedProcess } from '../support/index.ts';
import { removeCgroup, runCommand, startProcess, temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { RunningAgent } from './nodeward/index.ts';
import { program, startAgent, startApiServer } from './nodeward/index.ts';

before(ensureBuilt);

const mebibyte = 1024 * 1024;
const name = 'short-node';
/** Long against the time between two looks, so that it is seen. */
const transitionMs = 6000;

function configuration(...lines: readonly string[]): string {
  const head = ['apiVersion: kubelet.config.k8s.io/v1beta1', 'kind: KubeletConfiguration'];
  const quick = [
    'nodeStatusUpdateFrequency: 500ms',
    `evictionPressureTransitionPeriod: ${transitionMs / 1000}s`,
  ];
  return `${[...head, ...quick, ...lines].join('\n')}\n`;
}

async function clientOf(agent: RunningAgent): Promise<ApiClient> {
  return createClient(clientOptionsOf(await readKubeconfig(agent.summary.kubeconfig ?? '')));
}

function conditions(api: ApiClient) {
  const find = async (type: string) => {
    const { status } = await api.get(nodeKind, name);
    return status?.conditions?.find((condition) => condition.type === type);
  };
  return {
    becomes: (type: string, status: string) =>
      waitFor(
        `${type} to be ${status}`,
        async () => {
          const found = await find(type);
          return found?.status === status ? found : undefined;
        },
        { timeoutMs: 30_000, intervalMs: 100 },
      ),
  };
}

/** A file system of its own on a folder, or undefined where this user may not mount one. */
async function smallDisk(path: string): Promise<AsyncDisposable | undefined> {
  await mkdir(path, { recursive: true });
  const { code } = await runCommand('mount', ['-t', 'tmpfs', '-o', 'size=64m,mode=0700', 'small', path]);
  if (code !== 0) return undefined;
  return { [Symbol.asyncDispose]: async () => void (await runCommand('umount', ['--lazy', path])) };
}

/** Fills the disk until the condition is there, makes room again, and tells how long it stayed. */
async function comesAndStays(path: string, agent: RunningAgent): Promise<void> {
  await using api = await clientOf(agent);
  const { becomes } = conditions(api);
  assert.equal((await becomes('DiskPressure', 'False')).reason, 'KubeletHasNoDiskPressure');
  await writeFile(join(path, 'ballast'), Buffer.alloc(40 * mebibyte));
  const pressure = await becomes('DiskPressure', 'True');
  assert.equal(pressure.reason, 'KubeletHasDiskPressure');
  await rm(join(path, 'ballast'));
  const freedMs = performance.now();
  await becomes('DiskPressure', 'False');
  const stayedMs = performance.now() - freedMs;
  assert.ok(stayedMs > transitionMs - 2000, `it stayed for ${stayedMs} ms only`);
}

describe('a disk that runs full', () => {
  test('is told, stays told for the transition period, and is past then', async (t: TestContext) => {
    await using home = await temporaryFolder('pressure-');
    const rootDir = join(home.path, 'root');
    await using disk = await smallDisk(rootDir);
    if (disk === undefined) return t.skip('this user may not mount a file system');
    const config = join(home.path, 'config.yaml');
    await writeFile(config, configuration('evictionHard: {nodefs.available: 50%}'));
    const nowhere = `unix://${join(home.path, 'nowhere.sock')}`;
    const args = ['--config', config, '--hostname-override', name, '--container-runtime-endpoint', nowhere];
    await using agent = await startAgent({ rootDir, args });
    await comesAndStays(rootDir, agent);
    assert.equal((await agent.interrupt()).code, 0, agent.process.stderr);
  });
});

describe('a disk that becomes read-only', () => {
  test('holds up no heartbeat of an agent whose control plane is elsewhere', async (t: TestContext) => {
    await using home = await temporaryFolder('read-only-');
    const rootDir = join(home.path, 'root');
    await using disk = await smallDisk(rootDir);
    if (disk === undefined) return t.skip('this user may not mount a file system');
    await using server = await startApiServer(join(home.path, 'control-plane'));
    const { kubeconfig } = server;
    const config = join(home.path, 'config.yaml');
    await writeFile(config, configuration('nodeLeaseDurationSeconds: 4'));
    const nowhere = `unix://${join(home.path, 'nowhere.sock')}`;
    const args = ['--config', config, '--kubeconfig', kubeconfig, '--hostname-override', name];
    await using agent = await startAgent({
      rootDir,
      args: [...args, '--container-runtime-endpoint', nowhere],
    });
    await using api = createClient(clientOptionsOf(await readKubeconfig(kubeconfig)));
    const renewed = async () => {
      const { spec } = await api.get(leaseKind, name, { namespace: 'kube-node-lease' });
      return spec?.renewTime;
    };
    await waitFor('the first heartbeat', renewed);
    assert.equal((await runCommand('mount', ['-o', 'remount,ro', rootDir])).code, 0);
    await assert.rejects(writeFile(join(rootDir, 'probe'), ''), { code: 'EROFS' });
    for (let beats = 0; beats < 4; beats += 1) {
      const last = await renewed();
      await waitFor('another heartbeat', async () => (await renewed()) !== last, { timeoutMs: 10_000 });
    }
    assert.equal((await runCommand('mount', ['-o', 'remount,rw', rootDir])).code, 0);
    assert.equal((await agent.interrupt()).code, 0, agent.process.stderr);
  });
});

/** The memory controller's own hierarchy (v1), where this user may make groups in it. */
const memoryTree = '/sys/fs/cgroup/memory';

interface LimitedGroup extends AsyncDisposable {
  readonly path: string;
}

async function limitedGroup(limitBytes: number): Promise<LimitedGroup | undefined> {
  const group = `nodeward-pressure-${process.pid}`;
  const path = join(memoryTree, group);
  try {
    await mkdir(path);
    await writeFile(join(path, 'memory.limit_in_bytes'), String(limitBytes));
  } catch {
    await removeCgroup(group);
    return undefined;
  }
  return { path, [Symbol.asyncDispose]: async () => void (await removeCgroup(group)) };
}

/** Runs a command in the group, which is the root of the memory groups as the command sees them: as in a container. */
async function startInside(group: string, command: readonly string[]): Promise<SupervisedProcess> {
  const script = `echo $$ > ${group}/cgroup.procs && mount --bind ${group} ${memoryTree} && exec "$@"`;
  return await startProcess('unshare', ['--mount', 'sh', '-c', script, 'sh', ...command]);
}

describe('a container with a limit on its memory', () => {
  test('is a node of that size, which is short of memory when little of it is left', async (t: TestContext) => {
    await using group = await limitedGroup(1024 * mebibyte);
    if (group === undefined) return t.skip('no memory cgroups (v1) that this user may make groups in');
    await using home = await temporaryFolder('pressure-');
    const config = join(home.path, 'config.yaml');
    await writeFile(config, configuration('evictionHard: {memory.available: 400Mi}'));
    const rootDir = join(home.path, 'root');
    const nowhere = `unix://${join(home.path, 'nowhere.sock')}`;
    const place = ['--root-dir', rootDir, '--lock-file', join(home.path, 'lock')];
    const ports = ['--port', '0', '--secure-port', '0'];
    const node = ['--config', config, '--hostname-override', name, '--container-runtime-endpoint', nowhere];
    const command = [...program, 'agent', ...place, ...ports, ...node];
    await using agent = await startInside(group.path, command);
    await agent.waitForOutput(/^nodeward is ready$/m, { timeoutMs: 30_000 });
    const kubeconfig = await readKubeconfig(join(rootDir, 'admin.kubeconfig'));
    await using api = createClient(clientOptionsOf(kubeconfig));
    const { becomes } = conditions(api);
    await becomes('MemoryPressure', 'False');
    const { status } = await api.get(nodeKind, name);
    assert.equal(status?.capacity?.['memory'], '1Gi');
    await using eater = await eats(group.path, 600);
    assert.equal((await becomes('MemoryPressure', 'True')).reason, 'KubeletHasInsufficientMemory');
    await eater.kill9();
    await becomes('MemoryPressure', 'False');
  });
});

/** A process in the group that holds so many MiB. */
async function eats(group: string, mebibytes: number): Promise<SupervisedProcess> {
  const script = `echo $$ > ${group}/cgroup.procs; exec ${process.execPath} -e 'globalThis.held = Buffer.alloc(${mebibytes} * 1048576, 1); console.log("full"); setInterval(() => held.length, 1e6)'`;
  const child = await startProcess('sh', ['-c', script]);
  await child.waitForOutput(/full/);
  return child;
}
