import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listProcesses, removeCgroup, sendSignal } from '../../support/index.ts';
import type { PodNode } from './pod-node.ts';

/**
 * Switches the machine of a node off and on again, as far as a runtime and an agent can tell: all processes, mounts, cgroups,
 * links and rules are gone, what is in memory by custom (the folder of states) too, and it has another boot id.
 */
export async function reboot(lab: PodNode): Promise<void> {
  const { containerd, cgroup, folder } = lab.node;
  await lab.agent.process.kill9();
  await containerd.kill9();
  const shims = (await listProcesses()).filter(({ argv }) => argv.includes(containerd.socket));
  for (const { pid } of shims) sendSignal(pid, 'SIGKILL');
  await removeCgroup(cgroup);
  await unmountInside(lab);
  for (const volatile of ['state', 'runc'])
    await rm(join(containerd.folder, volatile), { recursive: true, force: true });
  await mkdir(join(containerd.folder, 'state'));
  const bootId = join(folder, 'boot-id');
  await writeFile(bootId, `${randomUUID()}\n`);
  const script = `ip link delete cni0; iptables -t nat -F; iptables -t nat -X
    mount --bind ${bootId} /proc/sys/kernel/random/boot_id`;
  await lab.node.run('sh', ['-c', script]);
  await containerd.restart();
  await lab.restartAgent('kill9');
}

/** What pods and the runtime had mounted; the last first. */
async function unmountInside({ node, rootDir }: PodNode): Promise<void> {
  const table = await readFile(`/proc/${node.holder}/mounts`, 'utf8');
  const paths = table.split('\n').map((line) => line.split(' ')[1] ?? '');
  const lost = paths.filter(
    (path) => path.startsWith(`${node.containerd.folder}/`) || path.startsWith(`${rootDir}/`),
  );
  if (lost.length > 0) await node.run('umount', ['--lazy', ...lost.toReversed()]);
}
