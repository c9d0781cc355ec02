import { BlockList, isIP } from 'node:net';
import { checkName, checkQualifiedName } from '../../names/index.ts';
import { checkAddressWithPrefix, checkIP } from '../addresses.ts';
import {
  causesOf,
  duplicateValue,
  forbiddenValue,
  invalidUnless,
  invalidValue,
  requiredValue,
} from '../cause.ts';
import type { Cause } from '../kind.ts';
import { labelCauses } from '../meta/label-selector.ts';
import { checkPort, checkPortName, notEmpty, oneOf, oneOfIfSet } from '../pod-validation/formats.ts';
import { clusterIpCauses } from './address-causes.ts';
import type { Service, ServicePort, ServiceSpec } from './description.ts';
import { hasClusterIP, hasHealthCheckPort, isHeadless, isReachedFromOutside } from './needs.ts';

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const protocols = ['SCTP', 'TCP', 'UDP'];
const policies = ['Cluster', 'Local'];
const distributions = ['PreferClose', 'PreferSameNode', 'PreferSameZone'];
const onlyBalanced = "may only be used when `type` is 'LoadBalancer'";

/** The causes why a service is invalid, with its defaults and its addresses. */
export function serviceCauses({ metadata, spec = {} }: Service): Cause[] {
  const annotations = metadata?.annotations ?? {};
  return [
    ...topologyCauses(annotations),
    ...typeCauses(spec),
    ...causesOf(spec.ports, (port, index) => portCauses(port, spec, index)),
    ...labelCauses(spec.selector ?? {}, 'spec.selector'),
    ...affinityCauses(spec),
    ...clusterIpCauses(spec),
    ...causesOf(spec.externalIPs, (address, index) => outsideCauses(`spec.externalIPs[${index}]`, address)),
    ...oneOf('spec.type', spec.type, types),
    ...nodePortCauses(spec),
    ...repeatedPortCauses(spec),
    ...sourceRangeCauses(spec, annotations),
    ...balancerCauses(spec),
    ...trafficCauses(spec),
  ];
}

const hints = 'service.kubernetes.io/topology-aware-hints';
const mode = 'service.kubernetes.io/topology-mode';

function topologyCauses(annotations: Readonly<Record<string, string>>): Cause[] {
  const [now, earlier] = [annotations[mode], annotations[hints]];
  if (now === undefined || earlier === undefined || now === earlier) return [];
  const detail = `must match annotations[${hints}] when both are specified`;
  return [invalidValue(`metadata.annotations[${mode}]`, now, detail)];
}

/** What people should know of a service that is accepted. */
export function serviceWarnings({ metadata, spec = {} }: Service): string[] {
  const isAlias = spec.type === 'ExternalName';
  const texts: [boolean, string][] = [
    [
      metadata?.annotations?.[hints] !== undefined,
      `annotation ${hints} is deprecated, please use ${mode} instead`,
    ],
    [
      isAlias && (spec.externalIPs ?? []).length > 0,
      'spec.externalIPs is ignored when spec.type is "ExternalName"',
    ],
    [
      !isAlias && Boolean(spec.externalName),
      'spec.externalName is ignored when spec.type is not "ExternalName"',
    ],
  ];
  return texts.filter(([applies]) => applies).map(([, text]) => text);
}

function typeCauses(spec: ServiceSpec): Cause[] {
  const { type, ports = [], clusterIPs = [] } = spec;
  const causes: Cause[] = [];
  if (ports.length === 0 && !isHeadless(spec) && type !== 'ExternalName')
    causes.push(requiredValue('spec.ports'));
  if ((type === 'LoadBalancer' || type === 'NodePort') && isHeadless(spec)) {
    const detail = `may not be set to 'None' for ${type} services`;
    causes.push(invalidValue('spec.clusterIPs[0]', clusterIPs[0], detail));
  }
  return type === 'ExternalName' ? [...causes, ...aliasCauses(spec)] : causes;
}

/** Of a service that is another name only. */
function aliasCauses(spec: ServiceSpec): Cause[] {
  const { clusterIPs = [], ipFamilies = [], ipFamilyPolicy, externalName = '' } = spec;
  const set: [boolean, string][] = [
    [clusterIPs.length > 0, 'clusterIPs'],
    [ipFamilies.length > 0, 'ipFamilies'],
    [ipFamilyPolicy !== undefined, 'ipFamilyPolicy'],
  ];
  const name = externalName.replace(/\.$/, '');
  return [
    ...set
      .filter(([isSet]) => isSet)
      .map(([, field]) => forbiddenValue(`spec.${field}`, 'may not be set for ExternalName services')),
    ...(name === ''
      ? [requiredValue('spec.externalName')]
      : invalidUnless('spec.externalName', name, checkName('subdomain', name))),
  ];
}

function portCauses(given: ServicePort, { ports = [] }: ServiceSpec, index: number): Cause[] {
  const { name = '', port, protocol, targetPort = port, appProtocol } = given;
  const path = `spec.ports[${index}]`;
  const isAgain = name !== '' && ports.findIndex((each) => each.name === name) < index;
  const wrongTarget = typeof targetPort === 'number' ? checkPort(targetPort) : checkPortName(targetPort);
  return [
    ...(name === '' && ports.length > 1 ? [requiredValue(`${path}.name`)] : []),
    ...(name === '' ? [] : invalidUnless(`${path}.name`, name, checkName('label', name))),
    ...(isAgain ? [duplicateValue(`${path}.name`, name)] : []),
    ...invalidUnless(`${path}.port`, port, checkPort(port)),
    ...oneOf(`${path}.protocol`, protocol, protocols),
    ...invalidUnless(`${path}.targetPort`, targetPort, wrongTarget),
    ...(appProtocol === undefined
      ? []
      : invalidUnless(`${path}.appProtocol`, appProtocol, checkQualifiedName(appProtocol))),
  ];
}

const maxAffinitySeconds = 86_400;

function affinityCauses({ sessionAffinity, sessionAffinityConfig }: ServiceSpec): Cause[] {
  const causes = oneOf('spec.sessionAffinity', sessionAffinity, ['ClientIP', 'None']);
  if (sessionAffinity !== 'ClientIP') return causes;
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds ?? 0;
  if (seconds > 0 && seconds <= maxAffinitySeconds) return causes;
  const field = 'spec.sessionAffinityConfig.clientIP.timeoutSeconds';
  return [
    ...causes,
    invalidValue(field, seconds, `must be greater than 0 and less than ${maxAffinitySeconds}`),
  ];
}

function rangesOf(...ranges: readonly [string, number][]): BlockList {
  const listed = new BlockList();
  for (const [address, prefix] of ranges)
    listed.addSubnet(address, prefix, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  return listed;
}

/** Ranges whose addresses mean something else on each machine, with what is said of them. */
const specialRanges: readonly [BlockList, string][] = [
  [rangesOf(['127.0.0.0', 8], ['::1', 128]), 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  [
    rangesOf(['169.254.0.0', 16], ['fe80::', 10]),
    'may not be in the link-local range (169.254.0.0/16, fe80::/10)',
  ],
  [
    rangesOf(['224.0.0.0', 24], ['ff02::', 16]),
    'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
  ],
];
const unspecified = rangesOf(['0.0.0.0', 32], ['::', 128]);

/** The causes why an address is none that means the same on every machine. */
export function outsideCauses(field: string, address: string): Cause[] {
  const wrong = checkIP(address);
  if (wrong !== undefined) return [invalidValue(field, address, wrong)];
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
  const isNone = unspecified.check(address, family);
  return [
    ...(isNone ? [invalidValue(field, address, `may not be unspecified (${address})`)] : []),
    ...specialRanges
      .filter(([range]) => range.check(address, family))
      .map(([, text]) => invalidValue(field, address, text)),
  ];
}

function nodePortCauses({ type, ports = [] }: ServiceSpec): Cause[] {
  const earlier = new Set<string>();
  return causesOf(ports, ({ nodePort = 0, protocol = '' }, index) => {
    if (nodePort === 0) return [];
    const field = `spec.ports[${index}].nodePort`;
    const isAgain = earlier.has(`${protocol}/${nodePort}`);
    earlier.add(`${protocol}/${nodePort}`);
    return [
      ...(type === 'ClusterIP' ? [forbiddenValue(field, "may not be used when `type` is 'ClusterIP'")] : []),
      ...(isAgain ? [duplicateValue(field, nodePort)] : []),
    ];
  });
}

function repeatedPortCauses({ ports = [] }: ServiceSpec): Cause[] {
  const earlier = new Set<string>();
  return causesOf(ports, ({ port, protocol = '' }, index) => {
    const isAgain = earlier.has(`${protocol}/${port}`);
    earlier.add(`${protocol}/${port}`);
    return isAgain ? [duplicateValue(`spec.ports[${index}]`, { protocol, port })] : [];
  });
}

const rangesAnnotation = 'service.beta.kubernetes.io/load-balancer-source-ranges';

function sourceRangeCauses(spec: ServiceSpec, annotations: Readonly<Record<string, string>>): Cause[] {
  const { type, loadBalancerSourceRanges: ranges = [] } = spec;
  const misplaced = (field: string) => (type === 'LoadBalancer' ? [] : [forbiddenValue(field, onlyBalanced)]);
  const check = (field: string, range: string) => invalidUnless(field, range, checkAddressWithPrefix(range));
  if (ranges.length > 0) {
    const field = 'spec.LoadBalancerSourceRanges'; // as the reference spells it
    return [
      ...misplaced(field),
      ...causesOf(ranges, (range, index) => check(`${field}[${index}]`, range.trim())),
    ];
  }
  const said = annotations[rangesAnnotation];
  if (said === undefined) return [];
  const field = `metadata.annotations[${rangesAnnotation}]`;
  const listed = said.trim() === '' ? [] : said.split(',').map((range) => range.trim());
  return [...misplaced(field), ...causesOf(listed, (range) => check(field, range))];
}

function balancerCauses({ type, allocateLoadBalancerNodePorts, loadBalancerClass }: ServiceSpec): Cause[] {
  if (type === 'LoadBalancer') {
    const name = loadBalancerClass;
    return name === undefined ? [] : invalidUnless('spec.loadBalancerClass', name, checkQualifiedName(name));
  }
  return [
    ...(allocateLoadBalancerNodePorts === undefined
      ? []
      : [forbiddenValue('spec.allocateLoadBalancerNodePorts', onlyBalanced)]),
    ...(loadBalancerClass === undefined ? [] : [forbiddenValue('spec.loadBalancerClass', onlyBalanced)]),
  ];
}

function trafficCauses(spec: ServiceSpec): Cause[] {
  const { externalTrafficPolicy, internalTrafficPolicy, trafficDistribution } = spec;
  const outside = 'spec.externalTrafficPolicy';
  return [
    ...(isReachedFromOutside(spec)
      ? oneOf(outside, externalTrafficPolicy, policies)
      : externalTrafficPolicy
        ? [invalidValue(outside, externalTrafficPolicy, 'may only be set for externally-accessible services')]
        : []),
    ...healthCheckCauses(spec),
    ...(hasClusterIP(spec) ? notEmpty('spec.internalTrafficPolicy', internalTrafficPolicy) : []),
    ...oneOfIfSet('spec.internalTrafficPolicy', internalTrafficPolicy, policies),
    ...oneOfIfSet('spec.trafficDistribution', trafficDistribution, distributions),
  ];
}

function healthCheckCauses(spec: ServiceSpec): Cause[] {
  const port = spec.healthCheckNodePort ?? 0;
  const field = 'spec.healthCheckNodePort';
  if (!hasHealthCheckPort(spec)) {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    return port === 0 ? [] : [invalidValue(field, port, detail)];
  }
  return port === 0 ? [requiredValue(field)] : invalidUnless(field, port, checkPort(port));
}

/** The causes why the state that a load balancer reports is invalid. */
export function balancerStatusCauses({ spec = {}, status }: Service): Cause[] {
  const ingress = status?.loadBalancer?.ingress ?? [];
  const path = 'status.loadBalancer.ingress';
  if (spec.type !== 'LoadBalancer')
    return ingress.length === 0
      ? []
      : [forbiddenValue(path, 'may only be used when `spec.type` is "LoadBalancer"')];
  return causesOf(ingress, ({ ip = '', ipMode, hostname = '' }, index) => {
    const at = `${path}[${index}]`;
    const modes = oneOfIfSet(`${at}.ipMode`, ipMode, ['Proxy', 'VIP']);
    const misplaced = forbiddenValue(`${at}.ipMode`, 'may not be specified when `ip` is not set');
    return [
      ...(ip === '' ? [] : invalidUnless(`${at}.ip`, ip, checkIP(ip))),
      ...(ipMode !== undefined && ip === '' ? [misplaced] : modes),
      ...(hostname === '' ? [] : invalidUnless(`${at}.hostname`, hostname, checkName('subdomain', hostname))),
      ...(isIP(hostname) === 0
        ? []
        : [invalidValue(`${at}.hostname`, hostname, 'must be a DNS name, not an IP address')]),
    ];
  });
}
