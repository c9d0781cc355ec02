import type { Pod } from '../kinds/index.ts';
import { isSidecar } from './pod-resources.ts';

/** A port of the node that a pod takes. */
export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

const everyAddress = '0.0.0.0';

/** Whether a port of the node that the pod wants is one of another's. */
export function findsPortsTaken(pod: Pod, others: readonly Pod[]): boolean {
  const wanted = hostPortsOf(pod);
  return wanted.length > 0 && others.some((other) => havePortInCommon(wanted, hostPortsOf(other)));
}

/** On one address, or where one of the two is taken on every address. */
export function havePortInCommon(ports: readonly HostPort[], others: readonly HostPort[]): boolean {
  return others.some((port) => isAmong(ports, port));
}

const isAmong = (ports: readonly HostPort[], { ip, protocol, port }: HostPort) =>
  ports.some(
    (each) =>
      each.port === port &&
      each.protocol === protocol &&
      (each.ip === ip || each.ip === everyAddress || ip === everyAddress),
  );

/** The ports of the node that a pod takes, those of the containers that run together: init containers but sidecars are gone by then. */
export function hostPortsOf({ spec }: Pod): HostPort[] {
  const running = [...(spec?.containers ?? []), ...(spec?.initContainers ?? []).filter(isSidecar)];
  return running.flatMap(({ ports = [] }) =>
    ports
      .map(({ hostIP, protocol, hostPort = 0, containerPort }) => ({
        ip: hostIP || everyAddress,
        protocol: protocol || 'TCP',
        port: spec?.hostNetwork === true && hostPort === 0 ? containerPort : hostPort,
      }))
      .filter(({ port }) => port > 0),
  );
}
