/** What an operator, or an accident, does to a pod past the agent. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContainerRecord } from '../../../../src/agent/pods/plan/types.ts';
import { RuntimeService } from '../../../../src/agent/runtime/gen/cri_pb.js';
import type { Random } from '../../../support/repetition.ts';
import type { CriClient } from '../../lab/index.ts';
import type { PodNode } from '../pod-node.ts';

/** What the runtime has of a pod. */
export async function inRuntime(cri: CriClient, uid: string) {
  const filter = { labelSelector: { 'io.kubernetes.pod.uid': uid } };
  const { items } = await cri.call(RuntimeService.method.listPodSandbox, { filter });
  const { containers } = await cri.call(RuntimeService.method.listContainers, { filter });
  return { sandboxes: items, containers };
}

/** Kills or removes a container of the pod, or ends its sandbox; nothing where there is none, or the runtime is away. */
export async function doHarm(lab: PodNode, uid: string, random: Random): Promise<void> {
  const { cri } = lab.node.containerd;
  const how = random();
  const choice = random();
  try {
    const { sandboxes, containers } = await inRuntime(cri, uid);
    const victim = containers[Math.floor(choice * containers.length)];
    if (how < 0.25) {
      const [sandbox] = sandboxes;
      if (sandbox !== undefined)
        await cri.call(RuntimeService.method.stopPodSandbox, { podSandboxId: sandbox.id });
    } else if (victim === undefined) return;
    else if (how < 0.7)
      await cri.call(RuntimeService.method.stopContainer, { containerId: victim.id, timeout: 0n });
    else if (await isRemembered(lab, uid, victim))
      await cri.call(RuntimeService.method.removeContainer, { containerId: victim.id });
  } catch {
    // the runtime is away, or what was chosen has gone meanwhile
  }
}

/** What the agent had not written down before it was removed cannot be counted. */
async function isRemembered({ rootDir }: PodNode, uid: string, container: Labelled): Promise<boolean> {
  const text = await readFile(join(rootDir, 'pod-records', `${uid}.json`), 'utf8');
  const { containers }: { containers?: Readonly<Record<string, ContainerRecord>> } = JSON.parse(text);
  const { name = '', attempt = 0 } = container.metadata ?? {};
  return (containers?.[name]?.made?.attempt ?? -1) >= attempt;
}

interface Labelled {
  readonly metadata?: { readonly name: string; readonly attempt: number } | undefined;
}
