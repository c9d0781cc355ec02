import { join } from 'node:path';
import type { Pod } from '../../../api/index.ts';
import { DecodeError, decodeValue, podKind } from '../../../api/index.ts';
import type { LoggedPod } from '../logs/index.ts';
import type { ContainerView, PodView } from '../view/types.ts';

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

/** Where its probes and hooks go; undefined: it has no address. */
export function addressOf(
  { spec }: Pod,
  view: PodView | undefined,
  hostIps: readonly string[],
): string | undefined {
  if (spec?.hostNetwork === true) return hostIps[0];
  return view?.sandboxes.find(({ isReady }) => isReady)?.ips[0];
}

/** What is needed to end a pod of which only the runtime knows. */
export function orphanOf({ uid, namespace, name, containers }: PodView, graceSeconds: number): Pod {
  const byName = new Map(containers.toReversed().map((each) => [each.name, each])); // of each name the newest
  return {
    metadata: { uid, namespace, name },
    spec: {
      containers: [...byName.values()].map(toOrphaned),
      terminationGracePeriodSeconds: graceSeconds,
    },
  };
}

/** With its preStop hook, as it is written on the container; one that cannot be read is none. */
function toOrphaned({ name, annotations }: ContainerView): Container {
  const preStop = parse(annotations[preStopAnnotation]);
  const ports = parse(annotations[portsAnnotation]);
  if (preStop === undefined) return { name };
  const container = { name, lifecycle: { preStop }, ...(ports === undefined ? {} : { ports }) };
  try {
    const { object } = decodeValue(podKind, 'v1', { spec: { containers: [container] } });
    return object.spec?.containers?.[0] ?? { name };
  } catch (error) {
    if (error instanceof DecodeError) return { name };
    throw error;
  }
}

export type Container = NonNullable<NonNullable<Pod['spec']>['containers']>[number];

const preStopAnnotation = 'io.kubernetes.container.preStopHandler';
const portsAnnotation = 'io.kubernetes.container.ports';

function parse(text = ''): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
