import { checkName } from '../../names/index.ts';
import { causesOf, invalidUnless, requiredValue } from '../cause.ts';
import { ageColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import { checkPort, labelName, oneOf } from '../pod-validation/formats.ts';
import { outsideCauses } from './causes.ts';
import type { EndpointSubset, Endpoints } from './endpoints-description.ts';
import { endpointsRoot } from './endpoints-description.ts';

function withDefaults(endpoints: Endpoints): Endpoints {
  if (endpoints.subsets === undefined) return endpoints;
  const subsets = endpoints.subsets.map((subset) =>
    subset.ports === undefined
      ? subset
      : { ...subset, ports: subset.ports.map((port) => ({ ...port, protocol: port.protocol || 'TCP' })) },
  );
  return { ...endpoints, subsets };
}

const protocols = ['SCTP', 'TCP', 'UDP'];

function validate({ subsets }: Endpoints): Cause[] {
  return causesOf(subsets, (subset, index) => subsetCauses(subset, `subsets[${index}]`));
}

function subsetCauses(
  { addresses = [], notReadyAddresses = [], ports = [] }: EndpointSubset,
  path: string,
): Cause[] {
  const isEmpty = addresses.length + notReadyAddresses.length === 0;
  return [
    ...(isEmpty ? [requiredValue(path, 'must specify `addresses` or `notReadyAddresses`')] : []),
    ...addressesCauses(addresses, `${path}.addresses`),
    ...addressesCauses(notReadyAddresses, `${path}.notReadyAddresses`),
    ...causesOf(ports, ({ name = '', port = 0, protocol }, index) => [
      ...(ports.length > 1 || name !== '' ? labelName(`${path}.ports[${index}].name`, name) : []),
      ...invalidUnless(`${path}.ports[${index}].port`, port, checkPort(port)),
      ...oneOf(`${path}.ports[${index}].protocol`, protocol, protocols),
    ]),
  ];
}

type Address = NonNullable<EndpointSubset['addresses']>[number];

function addressesCauses(addresses: readonly Address[], path: string): Cause[] {
  return causesOf(addresses, ({ ip, hostname = '', nodeName }, index) => {
    const field = `${path}[${index}]`;
    return [
      ...outsideCauses(`${field}.ip`, ip),
      ...(hostname === '' ? [] : invalidUnless(`${field}.hostname`, hostname, checkName('label', hostname))),
      ...(nodeName === undefined
        ? []
        : invalidUnless(`${field}.nodeName`, nodeName, checkName('subdomain', nodeName))),
    ];
  });
}

const listedLimit = 3;

/** `10.0.0.1:80,10.0.0.2:80 + 1 more...`. */
function addressText({ subsets = [] }: Endpoints): string {
  const all = subsets.flatMap(({ addresses = [], ports = [] }) =>
    ports.length === 0
      ? addresses.map(({ ip }) => joined(ip))
      : ports.flatMap(({ port = 0 }) => addresses.map(({ ip }) => joined(ip, port))),
  );
  if (all.length === 0) return '<none>';
  const listed = all.slice(0, listedLimit).join(',');
  return all.length > listedLimit ? `${listed} + ${all.length - listedLimit} more...` : listed;
}

function joined(ip: string, port?: number): string {
  if (port === undefined) return ip;
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}

/** Where the pods of a service are, in the form from before EndpointSlice. */
export const endpointsKind = defineKind<Endpoints>({
  group: '',
  version: 'v1',
  kind: 'Endpoints',
  doc: 'Where a service is to be found; the older form of EndpointSlice.',
  resource: 'endpoints',
  singular: 'endpoints',
  shortNames: ['ep'],
  namespaced: true,
  createOnUpdate: true,
  root: endpointsRoot,
  default: withDefaults,
  validate,
  warnings: () => ['v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice'],
  columns: [textColumn('Endpoints', 0, 'Addresses with their ports.', addressText), ageColumn],
});
