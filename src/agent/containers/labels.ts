import type { Pod } from '../../api/index.ts';
import type { AnyContainer } from '../downward/index.ts';
import { namespaceOf } from '../downward/index.ts';
import { containerHash } from './hash.ts';

/*
 * What is written on sandboxes and containers, as the reference writes it: so each of the two programs can take over the
 * containers that the other has started.
 */

export function sandboxLabels(pod: Pod): Record<string, string> {
  return { ...pod.metadata?.labels, ...podLabels(pod) };
}

/** Without the pod's own labels. */
export function containerLabels(pod: Pod, container: AnyContainer): Record<string, string> {
  return { ...podLabels(pod), 'io.kubernetes.container.name': container.name ?? '' };
}

function podLabels(pod: Pod): Record<string, string> {
  return {
    'io.kubernetes.pod.name': pod.metadata?.name ?? '',
    'io.kubernetes.pod.namespace': namespaceOf(pod),
    'io.kubernetes.pod.uid': pod.metadata?.uid ?? '',
  };
}

/** `others`: those of devices; the ones here win. */
export function containerAnnotations(
  pod: Pod,
  container: AnyContainer,
  restartCount: number,
  others: Readonly<Record<string, string>>,
): Record<string, string> {
  const preStop = container.lifecycle?.preStop;
  const ports = (container.ports ?? []).map(({ name, hostPort, containerPort, protocol, hostIP }) => ({
    ...(name ? { name } : {}),
    ...(hostPort ? { hostPort } : {}),
    containerPort,
    ...(protocol ? { protocol } : {}),
    ...(hostIP ? { hostIP } : {}),
  }));
  return {
    ...others,
    'io.kubernetes.container.hash': containerHash(container),
    'io.kubernetes.container.restartCount': String(restartCount),
    'io.kubernetes.container.terminationMessagePath': messagePathOf(container),
    'io.kubernetes.container.terminationMessagePolicy': container.terminationMessagePolicy || 'File',
    ...optional('io.kubernetes.pod.deletionGracePeriod', pod.metadata?.deletionGracePeriodSeconds),
    ...optional('io.kubernetes.pod.terminationGracePeriod', pod.spec?.terminationGracePeriodSeconds),
    ...(preStop === undefined ? {} : { 'io.kubernetes.container.preStopHandler': JSON.stringify(preStop) }),
    ...(ports.length === 0 ? {} : { 'io.kubernetes.container.ports': JSON.stringify(ports) }),
  };
}

function optional(name: string, value: number | bigint | undefined): Record<string, string> {
  return value === undefined ? {} : { [name]: String(value) };
}

export function messagePathOf(container: AnyContainer): string {
  return container.terminationMessagePath || '/dev/termination-log';
}
