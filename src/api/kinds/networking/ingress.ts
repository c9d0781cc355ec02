import { checkName } from '../../names/index.ts';
import { causesOf, invalidUnless, invalidValue, requiredValue, unsupportedValue } from '../cause.ts';
import { ageColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import { checkPort, checkPortName } from '../pod-validation/formats.ts';
import { statusPart } from '../workloads/display.ts';
import type { HTTPIngressPath, Ingress, IngressBackend, IngressSpec } from './description.ts';
import { ingressRoot } from './description.ts';

function validate({ spec = {} }: Ingress): Cause[] {
  const { rules = [], defaultBackend, ingressClassName: name, tls } = spec;
  const nothing = 'either `defaultBackend` or `rules` must be specified';
  return [
    ...(rules.length === 0 && defaultBackend === undefined ? [invalidValue('spec', spec, nothing)] : []),
    ...(defaultBackend === undefined ? [] : backendCauses(defaultBackend, 'spec.defaultBackend')),
    ...causesOf(tls, ({ hosts }, index) =>
      causesOf(hosts, (host, at) => hostCauses(host, `spec.tls[${index}].hosts[${at}]`)),
    ),
    ...causesOf(rules, (rule, index) => ruleCauses(rule, `spec.rules[${index}]`)),
    ...(name === undefined ? [] : invalidUnless('spec.ingressClassName', name, checkName('subdomain', name))),
  ];
}

type Rule = NonNullable<IngressSpec['rules']>[number];

function ruleCauses({ host = '', http }: Rule, field: string): Cause[] {
  const paths = http?.paths ?? [];
  return [
    ...(host === '' ? [] : hostCauses(host, `${field}.host`)),
    ...(http !== undefined && paths.length === 0 ? [requiredValue(`${field}.http.paths`)] : []),
    ...causesOf(paths, (path, index) => pathCauses(path, `${field}.http.paths[${index}]`)),
  ];
}

function hostCauses(host: string, field: string): Cause[] {
  const name = host.startsWith('*.') ? host.slice(2) : host;
  return invalidUnless(field, host, checkName('subdomain', name));
}

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];
const unclear = ['//', '/./', '/../', '%2f', '%2F'];
const unclearEnds = ['/..', '/.'];

function pathCauses({ path = '', pathType, backend }: HTTPIngressPath, field: string): Cause[] {
  const isFree = pathType === 'ImplementationSpecific';
  const wrong = unclear.find((part) => path.includes(part));
  const wrongEnd = unclearEnds.find((end) => path.endsWith(end));
  return [
    ...(pathType === undefined || pathType === ''
      ? [requiredValue(`${field}.pathType`, 'pathType must be specified')]
      : pathTypes.includes(pathType)
        ? []
        : [unsupportedValue(`${field}.pathType`, pathType, pathTypes)]),
    ...(path.startsWith('/') || (isFree && path === '')
      ? []
      : [invalidValue(`${field}.path`, path, 'must be an absolute path')]),
    ...(isFree || wrong === undefined
      ? []
      : [invalidValue(`${field}.path`, path, `must not contain '${wrong}'`)]),
    ...(isFree || wrongEnd === undefined
      ? []
      : [invalidValue(`${field}.path`, path, `cannot end with '${wrongEnd}'`)]),
    ...(backend === undefined ? [] : backendCauses(backend, `${field}.backend`)),
  ];
}

function backendCauses({ service, resource }: IngressBackend, field: string): Cause[] {
  if (service !== undefined && resource !== undefined)
    return [invalidValue(field, '', 'cannot set both resource and service backends')];
  if (resource !== undefined || service === undefined)
    return resource === undefined ? [requiredValue(field, 'port name or number is required')] : [];
  const { name, port = {} } = service;
  const at = `${field}.service`;
  const both = Boolean(port.name) && Boolean(port.number);
  return [
    ...(name === ''
      ? [requiredValue(`${at}.name`)]
      : invalidUnless(`${at}.name`, name, checkName('hostLabel', name))),
    ...(both ? [invalidValue(field, '', 'cannot set both port name & port number')] : []),
    ...(port.name
      ? invalidUnless(`${at}.port.name`, port.name, checkPortName(port.name))
      : port.number
        ? invalidUnless(`${at}.port.number`, port.number, checkPort(port.number))
        : [requiredValue(field, 'port name or number is required')]),
  ];
}

function hostsText({ spec }: Ingress): string {
  const hosts = [...new Set((spec?.rules ?? []).map(({ host = '' }) => host).filter(Boolean))];
  if (hosts.length === 0) return '*';
  return hosts.length > 3 ? `${hosts.slice(0, 3).join(',')} + ${hosts.length - 3} more...` : hosts.join(',');
}

function addressText({ status }: Ingress): string {
  return (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '').join(',');
}

/** Where requests from outside go, by host and path. */
export const ingressKind = defineKind<Ingress>({
  group: 'networking',
  version: 'v1',
  kind: 'Ingress',
  doc: 'Where requests from outside go, by host and path.',
  resource: 'ingresses',
  singular: 'ingress',
  shortNames: ['ing'],
  namespaced: true,
  root: ingressRoot,
  subresources: [statusPart],
  prepare: (next, old) => (old === undefined ? { ...next, status: {} } : next),
  validate,
  columns: [
    textColumn(
      'Class',
      0,
      'Which implementation serves it.',
      ({ spec }) => spec?.ingressClassName ?? '<none>',
    ),
    textColumn('Hosts', 0, 'Hosts of the requests.', hostsText),
    textColumn('Address', 0, 'Where the load balancer takes traffic.', addressText),
    textColumn('Ports', 0, 'Ports of the requests.', ({ spec }) =>
      (spec?.tls ?? []).length > 0 ? '80, 443' : '80',
    ),
    ageColumn,
  ],
});
