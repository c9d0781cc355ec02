/** The system and the agents of a node are held to what is reserved for them, by groups of the test's own. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { makeGroup } from '../../src/agent/resources/cgroup-tree.ts';
import { openCgroupTree, sharesOf, weightOf } from '../../src/agent/resources/index.ts';
import { eventKind } from '../../src/api/index.ts';
import {
  cgroupName,
  removeCgroup,
  runCommand,
  startProcess,
  temporaryFolder,
  waitFor,
} from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import { program } from './nodeward/index.ts';
import type { PodNode } from './pods/index.ts';
import { isRunningAndReady, sleeper, startPodNode, uidOf } from './pods/index.ts';

before(ensureBuilt);

const tree = openCgroupTree('/sys/fs/cgroup');
const mebibyte = 2 ** 20;

let home: Awaited<ReturnType<typeof temporaryFolder>>;
let group: string;
let lab: PodNode;
before(async () => {
  home = await temporaryFolder('reserved-');
  group = cgroupName(home.path);
});
after(async () => {
  await lab?.[Symbol.asyncDispose]();
  await removeCgroup(group);
  await home[Symbol.asyncDispose]();
});

/** What the kernel has in the file of the group, in the hierarchy that knows it. */
async function readLimit(path: readonly string[], files: Readonly<Record<1 | 2, string>>): Promise<string> {
  const found = tree.roots
    .map((root) => join(root, ...path, files[tree.version]))
    .find((each) => existsSync(each));
  return (
    await readFile(found ?? assert.fail(`${path.join('/')} has no ${files[tree.version]}`), 'utf8')
  ).trim();
}

const cpu = (path: readonly string[]) => readLimit(path, { 1: 'cpu.shares', 2: 'cpu.weight' });
const memory = (path: readonly string[]) => readLimit(path, { 1: 'memory.limit_in_bytes', 2: 'memory.max' });
const pids = (path: readonly string[]) => readLimit(path, { 1: 'pids.max', 2: 'pids.max' });
const toCpu = (millis: number) => String(tree.version === 1 ? sharesOf(millis) : weightOf(sharesOf(millis)));

const settings = (systemMebibytes: number) =>
  [
    `systemReserved: {cpu: 300m, memory: ${systemMebibytes}Mi, pid: "500"}`,
    `systemReservedCgroup: /${group}/system`,
    'kubeReserved: {cpu: 700m, memory: 64Mi, pid: "24"}',
    `kubeReservedCgroup: ${group}/agents`,
    'enforceNodeAllocatable: [pods, system-reserved, kube-reserved-compressible]',
  ].join('\n');

describe('what is reserved', () => {
  test('is not enforced on a group that does not exist: the agent does not start, and doctor says so', async () => {
    const config = join(home.path, 'config.yaml');
    const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
    await writeFile(config, `${head}${settings(64)}\n`);
    const [file = '', ...argv] = program;
    const place = ['--config', config, '--root-dir', join(home.path, 'root')];
    const started = await runCommand(file, [
      ...argv,
      'agent',
      ...place,
      '--lock-file',
      join(home.path, 'lock'),
    ]);
    assert.equal(started.code, 3);
    assert.match(
      started.stderr,
      /Failed to enforce System Reserved Cgroup Limits on ".*\/system": cgroup ".*\/system" does not exist: create it/,
    );
    const only = ['--only', 'reserved-cgroups'];
    const { code, stdout } = await runCommand(file, [...argv, 'doctor', ...place, ...only]);
    assert.equal(code, 1, stdout);
    assert.match(stdout, /the agent does not start: Failed to enforce System .*; Failed to enforce Kube /s);
  });

  test('limits the groups of the system and of the agents, and all pods to the rest', async () => {
    for (const name of ['system', 'agents']) await makeGroup(tree, [group, name]);
    lab = await startPodNode({ config: settings(64) });
    const pod = await lab.run('any', { containers: [sleeper('main')] });
    await lab.pods.until('it to run', uidOf(pod), (state) => isRunningAndReady(state.pod));
    const [system, agents] = [
      [group, 'system'],
      [group, 'agents'],
    ];
    await waitFor('the limit of the system', async () => (await memory(system)) === String(64 * mebibyte));
    assert.deepEqual([await cpu(system), await pids(system)], [toCpu(300), '500']);
    assert.equal(await cpu(agents), toCpu(700));
    assert.ok(!(await pids(agents)).startsWith('24'), 'only what is compressible');
    const limits = await Promise.all(
      ['pid_max', 'threads-max'].map((name) => readFile(`/proc/sys/kernel/${name}`)),
    );
    const most = Math.min(...limits.map(Number));
    assert.equal(await pids([lab.node.cgroup, 'kubepods']), String(most - 524));
    await waitFor('the Events', async () => {
      const { items } = await lab.api.list(eventKind, { namespace: 'default' });
      return items.filter(({ reason }) => reason === 'NodeAllocatableEnforced').length === 2;
    });
  });

  test('follows a reload, and waits while the group uses more', async () => {
    const system = [group, 'system'];
    await lab.configure(settings(96));
    await waitFor('the new limit', async () => (await memory(system)) === String(96 * mebibyte));
    const procs = tree.roots
      .map((root) => join(root, ...system, 'cgroup.procs'))
      .filter((each) => existsSync(each));
    const enter = procs.map((each) => `echo $$ > ${each};`).join(' ');
    const hold = `globalThis.held = Buffer.alloc(${40 * mebibyte}, 1); console.log('full'); setInterval(() => held.length, 1e6)`;
    await using eater = await startProcess('sh', ['-c', `${enter} exec ${process.execPath} -e "${hold}"`]);
    await eater.waitForOutput(/full/);
    await lab.configure(settings(32));
    await waitFor('its Event', async () => {
      const { items } = await lab.api.list(eventKind, { namespace: 'default' });
      return items.some(
        ({ reason, message }) =>
          reason === 'FailedNodeAllocatableEnforcement' &&
          /uses \d+ bytes of memory, more than/.test(message ?? ''),
      );
    });
    assert.equal(await memory(system), String(96 * mebibyte));
    await eater.kill9();
    await lab.configure(settings(33));
    await waitFor('the limit', async () => (await memory(system)) === String(33 * mebibyte));
  });
});
