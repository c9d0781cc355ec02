import { isDeepStrictEqual } from 'node:util';
import type { Service, ServicePort, ServiceSpec } from './description.ts';
import { hasClusterIP, hasHealthCheckPort, hasNodePorts, isReachedFromOutside } from './needs.ts';

/*
 * What a writer of a service means by what it leaves out or leaves as it was. Fields depend on each other, and clients that
 * know only one of two must be able to change the service.
 */

/** A new service: it is not observed yet, and its one address may stand in either field. */
export function withNewAddresses({ status: _status, ...service }: Service): Service {
  const { clusterIP, clusterIPs = [] } = service.spec ?? {};
  const isAlone = clusterIP !== undefined && clusterIP !== '' && clusterIPs.length === 0;
  return isAlone ? { ...service, spec: { ...service.spec, clusterIPs: [clusterIP] } } : service;
}

/** A changed service with what it has been given and its writer does not say. Both have their defaults. */
export function withAllocated(next: Service, old: Service): Service {
  const { spec: before = {} } = old;
  const spec = { ...next.spec };
  settleAddresses(spec, before);
  keepAddress(spec, before);
  keepNodePorts(spec, before);
  if (hasHealthCheckPort(before) && hasHealthCheckPort(spec))
    keep(spec, 'healthCheckNodePort', spec.healthCheckNodePort || before.healthCheckNodePort);
  dropUnneeded(spec, before);
  if (!isBalanced(before) || isBalanced(spec)) return { ...next, spec };
  const { loadBalancer: _balancer, ...status } = next.status ?? {};
  return { ...next, spec, status };
}

function isBalanced({ type }: ServiceSpec): boolean {
  return type === 'LoadBalancer';
}

/** Sets a field of the copy of a spec, or removes it. */
function keep<K extends keyof ServiceSpec>(spec: ServiceSpec, name: K, value: ServiceSpec[K]): void {
  if (value === undefined) delete spec[name];
  else spec[name] = value;
}

/** `clusterIP` and `clusterIPs` say the same: the one that its writer changed counts. */
function settleAddresses(spec: ServiceSpec, before: ServiceSpec): void {
  const [now = '', was = ''] = [spec.clusterIP, before.clusterIP];
  if ((before.clusterIPs ?? []).length > 0 && (spec.clusterIPs ?? []).length === 0 && now === was) {
    keep(spec, 'clusterIPs', before.clusterIPs);
  }
  if (now === was || !isSame(spec, before, 'clusterIPs')) return;
  keep(spec, 'clusterIPs', now === '' ? undefined : [now]);
}

function keepAddress(spec: ServiceSpec, before: ServiceSpec): void {
  if (!hasClusterIP(before) || !hasClusterIP(spec)) return;
  keep(spec, 'clusterIP', spec.clusterIP || before.clusterIP);
  if ((spec.clusterIPs ?? []).length === 0 && spec.clusterIP === before.clusterIP)
    keep(spec, 'clusterIPs', before.clusterIPs);
}

/** A port of the same name keeps its port on the nodes, unless another port of the service takes it over. */
function keepNodePorts(spec: ServiceSpec, before: ServiceSpec): void {
  if (!hasNodePorts(before) || !hasNodePorts(spec)) return;
  const taken = new Set(portsOf(spec).filter((port) => portsOf(before).includes(port)));
  const byName = new Map(before.ports?.map(({ name = '', nodePort = 0 }) => [name, nodePort]));
  const kept = (port: ServicePort): ServicePort => {
    const earlier = byName.get(port.name ?? '') ?? 0;
    if (port.nodePort || earlier === 0 || taken.has(earlier)) return port;
    taken.add(earlier);
    return { ...port, nodePort: earlier };
  };
  keep(spec, 'ports', spec.ports?.map(kept));
}

function portsOf({ ports = [] }: ServiceSpec): number[] {
  return ports.map(({ nodePort = 0 }) => nodePort).filter((port) => port !== 0);
}

/** Takes off what the service was given and does not need by its new type, where its writer left it as it was. */
function dropUnneeded(spec: ServiceSpec, before: ServiceSpec): void {
  const isLost = (has: (of: ServiceSpec) => boolean) => has(before) && !has(spec);
  const drop = (...names: readonly (keyof ServiceSpec)[]) => {
    for (const name of names) if (isSame(spec, before, name)) delete spec[name];
  };
  if (isLost(hasClusterIP)) {
    if (isSame(spec, before, 'clusterIPs')) {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    drop('ipFamilies', 'ipFamilyPolicy');
  }
  if (isLost(hasNodePorts) && isDeepStrictEqual(new Set(portsOf(spec)), new Set(portsOf(before))))
    keep(
      spec,
      'ports',
      spec.ports?.map(({ nodePort: _port, ...port }) => port),
    );
  if (isLost(hasHealthCheckPort)) drop('healthCheckNodePort');
  if (isLost(isBalanced)) drop('allocateLoadBalancerNodePorts', 'loadBalancerClass');
  if (isLost(isReachedFromOutside)) drop('externalTrafficPolicy');
}

function isSame(spec: ServiceSpec, before: ServiceSpec, name: keyof ServiceSpec): boolean {
  return isDeepStrictEqual(spec[name], before[name]);
}
