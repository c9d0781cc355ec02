import type { AnyContainer } from '../downward/index.ts';
import { expandReferences, findContainer } from '../downward/index.ts';
import { containerResources } from '../resources/index.ts';
import type { ContainerConfig } from '../runtime/index.ts';
import { containerAnnotations, containerLabels } from './labels.ts';
import { mountsOf } from './mounts.ts';
import type { NamespaceOptions } from './namespaces.ts';
import { namespaceMode, namespacesOf } from './namespaces.ts';
import { securityContext } from './security-context.ts';
import { stopSignalNumber } from './stop-signal.ts';
import type { ContainerInput } from './types.ts';
import { ContainerConfigError } from './types.ts';

/** What the runtime is given to create a container. Throws a ContainerConfigError whose message is for users. */
export function containerConfig(input: ContainerInput): ContainerConfig {
  const { pod, devices, image, attempt } = input;
  const container = findContainer(pod, input.container);
  const environment = [...devices.environment, ...input.environment];
  const values = new Map(environment.map(({ name, value }) => [name, value]));
  const expand = (texts: readonly string[] = []) => texts.map((text) => expandReferences(text, values));
  return {
    metadata: { name: input.container, attempt },
    image: { image: image.id, userSpecifiedImage: container.image ?? '' },
    command: expand(container.command),
    args: expand(container.args),
    workingDir: container.workingDir ?? '',
    envs: environment.map(({ name, value }) => ({ key: name, value: Buffer.from(value) })),
    mounts: mountsOf(input, container),
    devices: devices.devices.map((device) => ({ ...device })),
    cdiDevices: devices.cdiDevices.map((name) => ({ name })),
    labels: containerLabels(pod, container),
    annotations: containerAnnotations(pod, container, input.restartCount, devices.annotations),
    logPath: containerLogPath(input.container, attempt),
    stdin: container.stdin === true,
    stdinOnce: container.stdinOnce === true,
    tty: container.tty === true,
    stopSignal: stopSignalOf(container),
    linux: {
      resources: containerResources(pod, container, input.node),
      securityContext: securityContext(input, container.securityContext ?? {}, containerNamespaces(input)),
    },
  };
}

/** Below the log folder of the pod. The attempt, not the restart count, so that no two containers write to one file. */
export function containerLogPath(container: string, attempt: number): string {
  return `${container}/${attempt}.log`;
}

/** A debug container sees the processes of its target, unless all containers of the pod see each other's anyway. */
function containerNamespaces({ pod, userIds, targetId }: ContainerInput): NamespaceOptions {
  const namespaces = namespacesOf(pod, userIds);
  if (targetId === undefined || namespaces.pid !== namespaceMode.container) return namespaces;
  return { ...namespaces, pid: namespaceMode.target, targetId };
}

/** 0 leaves it to the image. */
function stopSignalOf({ lifecycle }: AnyContainer): number {
  const name = lifecycle?.stopSignal ?? '';
  if (name === '') return 0;
  const known = stopSignalNumber(name);
  if (known !== undefined) return known;
  throw new ContainerConfigError(`stopSignal ${JSON.stringify(name)} is not known`);
}
