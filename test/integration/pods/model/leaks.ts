/** What is left on a node of pods that are gone. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mayStillBeMade } from '../../../../src/agent/pods/worker/record.ts';
import { RuntimeService } from '../../../../src/agent/runtime/gen/cri_pb.js';
import { cgroupFolders } from '../../../support/cgroups.ts';
import type { PodNode } from '../pod-node.ts';

/**
 * Each in a few words; empty when there is nothing, as it must be when no pod is left. Left out is what a runtime and its
 * plugins leave when they are cut off in the middle, of which no agent is told: shims, chains without a rule, and the chain in
 * which the plugin `bridge` masquerades for one pod. That plugin looks up the addresses of the pod at its link, so it forgets
 * the chain when it is killed between the two, however often it is called again. The runtime kills it when the call of the agent
 * ends with the agent.
 */
export async function findLeaks(lab: PodNode): Promise<string[]> {
  const { containerd, cgroup, logFolder } = lab.node;
  const { items } = await containerd.cri.call(RuntimeService.method.listPodSandbox, {});
  const { containers } = await containerd.cri.call(RuntimeService.method.listContainers, {});
  const mounts = await readFile(`/proc/${lab.node.holder}/mounts`, 'utf8');
  const { stdout: links } = await lab.node.run('ip', ['-o', 'link']);
  const { stdout: rules } = await lab.node.run('iptables-save', ['-t', 'nat']);
  return [
    ...items.map(({ id }) => `sandbox ${id}`),
    ...containers.map(({ id }) => `container ${id}`),
    ...lines(mounts)
      .filter((line) => isOfPod(line, lab))
      .map((line) => `mount ${line}`),
    ...lines(links)
      .filter((line) => /: veth/.test(line))
      .map((line) => `link ${line}`),
    ...lines(rules)
      .filter((line) => /^-A .*CNI-/.test(line) && !/CNI-HOSTPORT/.test(line.split(' -j ')[1] ?? ''))
      .filter((line) => !masquerading.test(line))
      .map((line) => `rule ${line}`),
    ...(await namesIn(join(containerd.folder, 'addresses/lab')))
      .filter((name) => /^\d/.test(name))
      .map((name) => `address ${name}`),
    ...(await namesIn(join(containerd.folder, 'state/io.containerd.grpc.v1.cri/netns'))).map(
      (name) => `netns ${name}`,
    ),
    ...(await namesIn(join(lab.rootDir, 'pods'))).map((name) => `folder pods/${name}`),
    ...(await leftRecords(join(lab.rootDir, 'pod-records'))).map((name) => `record ${name}`),
    ...(await namesIn(join(logFolder, 'pods'))).map((name) => `logs ${name}`),
    ...(await namesIn(join(logFolder, 'containers'))).map((name) => `log link ${name}`),
    ...(await podCgroups(cgroup)).map((name) => `cgroup ${name}`),
  ];
}

/** A rule of such a chain, or the one that leads to it. */
const masquerading =
  /^-A (?:CNI-[0-9a-f]{24} |POSTROUTING -s \S+ ).* -j (?:CNI-[0-9a-f]{24}|ACCEPT|MASQUERADE)$/;

/** Without those that are kept because the runtime has not answered: it may still make what it was asked for. */
async function leftRecords(folder: string): Promise<string[]> {
  const names = await namesIn(folder);
  const left = names.map(async (name) => {
    const text = await readFile(join(folder, name), 'utf8').catch(() => '');
    if (text === '') return [];
    return mayStillBeMade(JSON.parse(text), Date.now()) ? [] : [name];
  });
  return (await Promise.all(left)).flat();
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

/** Containerd's own mounts are few and stay. */
function isOfPod(line: string, { node, rootDir }: PodNode): boolean {
  const path = line.split(' ')[1] ?? '';
  return path.startsWith(join(rootDir, 'pods')) || path.startsWith(join(node.containerd.folder, 'state'));
}

async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => []);
}

async function podCgroups(cgroup: string): Promise<string[]> {
  const folders = await cgroupFolders(cgroup);
  const all = await Promise.all(folders.map(async (folder) => await readdir(folder, { recursive: true })));
  return [...new Set(all.flat().filter((path) => /\/pod[^/]+$/.test(path)))];
}
