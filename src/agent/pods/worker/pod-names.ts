import { join } from 'node:path';
import type { Pod } from '../../../api/index.ts';
import type { LoggedPod } from '../logs/index.ts';
import type { PodView } from '../view/types.ts';

/** What the folders of a pod are named by. */
export function namesOf({ metadata }: Pod): LoggedPod {
  const { namespace = '', name = '', uid = '' } = metadata ?? {};
  return { namespace, name, uid };
}

/** What the agent keeps of a pod on the disk. */
export function podFolder(rootDir: string, { metadata }: Pod): string {
  return join(rootDir, 'pods', metadata?.uid ?? '');
}

/** Of all lists. */
export function listContainers({ spec }: Pod) {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {};
  return [...initContainers, ...containers, ...ephemeralContainers];
}

export function findContainer(pod: Pod, name: string) {
  return listContainers(pod).find((each) => each.name === name);
}

export function ipOf(view: PodView | undefined): string | undefined {
  return view?.sandboxes.find(({ isReady }) => isReady)?.ips[0];
}

/** What is needed to end a pod of which only the runtime knows. */
export function orphanOf({ uid, namespace, name, containers }: PodView, graceSeconds: number): Pod {
  const names = [...new Set(containers.map((each) => each.name))];
  return {
    metadata: { uid, namespace, name },
    spec: {
      containers: names.map((each) => ({ name: each })),
      terminationGracePeriodSeconds: graceSeconds,
    },
  };
}
