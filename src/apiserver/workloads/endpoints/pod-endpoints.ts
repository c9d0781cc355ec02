import { isIPv4, isIPv6 } from 'node:net';
import type { Endpoint, EndpointSlice, Pod, Service, ServicePort } from '../../../api/index.ts';
import { hasEnded, isReady } from '../pod-state.ts';

/*
 * What a pod is to a service: an address of each family, the ports that it has for the service, and whether it takes traffic.
 * As in the reference's endpointslice-controller.
 */

export type Family = 'IPv4' | 'IPv6';
export type SlicePort = NonNullable<EndpointSlice['ports']>[number];

/** An endpoint, such as a pod is one of a service. */
export interface KnownEndpoint {
  readonly endpoint: Endpoint;
  /** Of a pod in the order of the service's ports, without those that the pod does not have. */
  readonly ports: readonly SlicePort[];
}

/** The families for which a service has endpoints: its own; those of its pods need nothing but an address of them. */
export function familiesOf({ spec = {} }: Service): readonly Family[] {
  if (spec.type === 'ExternalName') return [];
  return (spec.ipFamilies ?? []).filter((family) => family === 'IPv4' || family === 'IPv6');
}

/** Whether a service has its endpoints made out of pods. */
export function hasSelector({ spec }: Service): boolean {
  return Object.keys(spec?.selector ?? {}).length > 0;
}

/** Whether a pod has the labels that the service asks for. */
export function isSelected({ spec }: Service, { metadata }: Pod): boolean {
  const { labels = {} } = metadata ?? {};
  const wanted = Object.entries(spec?.selector ?? {});
  return (
    wanted.length > 0 &&
    wanted.every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value)
  );
}

/** The address of a pod in a family, while it runs or is to run. */
export function addressOfPod({ status = {} }: Pod, family: Family): string | undefined {
  if (hasEnded(status.phase)) return undefined;
  const all = [...(status.podIPs ?? []).map(({ ip = '' }) => ip), status.podIP ?? ''];
  return all.find(family === 'IPv4' ? isIPv4 : isIPv6);
}

/** Whether a pod counts for the traffic of a service: one that is ending does not, even while it is ready. */
export function takesTraffic({ spec }: Service, pod: Pod): boolean {
  const isEnding = pod.metadata?.deletionTimestamp !== undefined;
  return spec?.publishNotReadyAddresses === true || (isReady(pod) && !isEnding);
}

/** The host name under which DNS has the pod in the domain of the service. */
export function hostnameOf({ metadata }: Service, { spec, metadata: pod }: Pod): string | undefined {
  const isOfService = spec?.subdomain === metadata?.name && pod?.namespace === metadata?.namespace;
  return spec?.hostname && isOfService ? spec.hostname : undefined;
}

/** How endpoints refer to their pod. */
export function referenceOf({ metadata = {} }: Pod): NonNullable<Endpoint['targetRef']> {
  const { namespace = '', name = '', uid = '' } = metadata;
  return { kind: 'Pod', namespace, name, uid };
}

/** The ports that a pod has for a service. */
export function portsOfPod({ spec = {} }: Service, pod: Pod): SlicePort[] {
  return (spec.ports ?? []).flatMap((port) => {
    const number = findPort(port, pod);
    if (number === undefined) return [];
    const { name = '', protocol = 'TCP', appProtocol } = port;
    return [{ name, protocol, port: number, ...(appProtocol === undefined ? {} : { appProtocol }) }];
  });
}

/** The number of the port of a pod; undefined where a named port is not one of its containers. */
function findPort({ targetPort, port, protocol = 'TCP' }: ServicePort, { spec }: Pod): number | undefined {
  if (typeof targetPort !== 'string') return targetPort || port;
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const ports = [...(spec?.containers ?? []), ...sidecars].flatMap((container) => container.ports ?? []);
  return ports.find((each) => each.name === targetPort && (each.protocol ?? 'TCP') === protocol)
    ?.containerPort;
}

/** A pod as an endpoint of a service in a family; undefined without an address. `zone`: that of its node. */
export function toEndpoint(
  service: Service,
  pod: Pod,
  family: Family,
  zone: string | undefined,
): KnownEndpoint | undefined {
  const address = addressOfPod(pod, family);
  if (address === undefined) return undefined;
  const ready = takesTraffic(service, pod);
  const hostname = hostnameOf(service, pod);
  const nodeName = pod.spec?.nodeName;
  const hints = ready ? hintsOf(service, zone, nodeName) : undefined;
  const endpoint: Endpoint = {
    addresses: [address],
    conditions: { ready, serving: isReady(pod), terminating: pod.metadata?.deletionTimestamp !== undefined },
    ...(hostname === undefined ? {} : { hostname }),
    targetRef: referenceOf(pod),
    ...(nodeName ? { nodeName } : {}),
    ...(zone === undefined ? {} : { zone }),
    ...(hints === undefined ? {} : { hints }),
  };
  return { endpoint, ports: portsOfPod(service, pod) };
}

/** Who should use an endpoint, by the wish of the service that traffic stays near. */
function hintsOf({ spec }: Service, zone?: string, nodeName?: string): Endpoint['hints'] | undefined {
  const wish = spec?.trafficDistribution;
  const isNearNode = wish === 'PreferSameNode' && nodeName;
  const isNearZone = (wish === 'PreferClose' || wish === 'PreferSameZone' || isNearNode) && zone;
  if (!isNearNode && !isNearZone) return undefined;
  return {
    ...(isNearNode ? { forNodes: [{ name: nodeName }] } : {}),
    ...(isNearZone ? { forZones: [{ name: zone }] } : {}),
  };
}
