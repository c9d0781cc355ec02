import { isIPv4, isIPv6 } from 'node:net';
import { checkName, checkQualifiedName } from '../../names/index.ts';
import { checkIP } from '../addresses.ts';
import {
  causesOf,
  duplicateValue,
  forbiddenValue,
  invalidUnless,
  invalidValue,
  requiredValue,
  tooManyItems,
  unsupportedValue,
} from '../cause.ts';
import { ageColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import { checkPort } from '../pod-validation/formats.ts';
import { outsideCauses } from './causes.ts';
import type { Endpoint, EndpointPort, EndpointSlice } from './slice-description.ts';
import { endpointSliceRoot } from './slice-description.ts';

function withDefaults(slice: EndpointSlice): EndpointSlice {
  if (slice.ports === undefined) return slice;
  const ports = slice.ports.map((port) => ({
    ...port,
    name: port.name ?? '',
    protocol: port.protocol ?? 'TCP',
  }));
  return { ...slice, ports };
}

const addressTypes = ['FQDN', 'IPv4', 'IPv6'];
const protocols = ['SCTP', 'TCP', 'UDP'];
const endpointsLimit = 1000;
const addressesLimit = 100;
const portsLimit = 20_000;
const hintsLimit = 8;

function validate(next: EndpointSlice, old: EndpointSlice | undefined): Cause[] {
  const { addressType: type = '', endpoints = [], ports = [] } = next;
  const typeCauses =
    type === ''
      ? [requiredValue('addressType')]
      : addressTypes.includes(type)
        ? []
        : [unsupportedValue('addressType', type, addressTypes)];
  return [
    ...typeCauses,
    ...(endpoints.length > endpointsLimit
      ? [tooManyItems('endpoints', endpoints.length, endpointsLimit)]
      : []),
    ...causesOf(endpoints, (endpoint, index) => endpointCauses(endpoint, type, `endpoints[${index}]`)),
    ...(ports.length > portsLimit ? [tooManyItems('ports', ports.length, portsLimit)] : []),
    ...portsCauses(ports),
    ...(old === undefined || type === old.addressType
      ? []
      : [invalidValue('addressType', type, 'field is immutable')]),
  ];
}

function endpointCauses(endpoint: Endpoint, type: string, path: string): Cause[] {
  const { addresses = [], nodeName, hostname, deprecatedTopology = {}, hints } = endpoint;
  const { forZones = [], forNodes = [] } = hints ?? {};
  return [
    ...(addresses.length === 0
      ? [requiredValue(`${path}.addresses`, 'must contain at least 1 address')]
      : []),
    ...(addresses.length > addressesLimit
      ? [tooManyItems(`${path}.addresses`, addresses.length, addressesLimit)]
      : []),
    ...causesOf(addresses, (address, index) => addressCauses(address, type, `${path}.addresses[${index}]`)),
    ...(nodeName === undefined
      ? []
      : invalidUnless(`${path}.nodeName`, nodeName, checkName('subdomain', nodeName))),
    ...causesOf(Object.keys(deprecatedTopology), (key) =>
      key === 'topology.kubernetes.io/zone'
        ? [forbiddenValue(`${path}.deprecatedTopology[${key}]`, 'replaced by zone')]
        : invalidUnless(`${path}.deprecatedTopology`, key, checkQualifiedName(key)),
    ),
    ...(hostname === undefined
      ? []
      : invalidUnless(`${path}.hostname`, hostname, checkName('label', hostname))),
    ...hintCauses(forZones, `${path}.hints.forZones`),
    ...hintCauses(forNodes, `${path}.hints.forNodes`),
  ];
}

function hintCauses(hints: readonly { name: string }[], path: string): Cause[] {
  const names = hints.map(({ name }) => name);
  return [
    ...(hints.length > hintsLimit ? [tooManyItems(path, hints.length, hintsLimit)] : []),
    ...causesOf(names, (name, index) => [
      ...(names.indexOf(name) < index ? [duplicateValue(`${path}[${index}].name`, name)] : []),
      ...invalidUnless(`${path}[${index}].name`, name, checkQualifiedName(name)),
    ]),
  ];
}

function addressCauses(address: string, type: string, field: string): Cause[] {
  if (type === 'FQDN') return invalidUnless(field, address, checkName('subdomain', address));
  if (type !== 'IPv4' && type !== 'IPv6') return [];
  const wrong = checkIP(address);
  if (wrong !== undefined) return [invalidValue(field, address, wrong)];
  const isOther = type === 'IPv4' ? !isIPv4(address) : !isIPv6(address);
  return [
    ...(isOther ? [invalidValue(field, address, `must be an ${type} address`)] : []),
    ...outsideCauses(field, address),
  ];
}

function portsCauses(ports: readonly EndpointPort[]): Cause[] {
  const names = ports.map(({ name = '' }) => name);
  return causesOf(ports, ({ name = '', protocol, port, appProtocol }, index) => {
    const field = `ports[${index}]`;
    return [
      ...(name === '' ? [] : invalidUnless(`${field}.name`, name, checkName('label', name))),
      ...(names.indexOf(name) < index ? [duplicateValue(`${field}.name`, name)] : []),
      ...(protocol === undefined
        ? [requiredValue(`${field}.protocol`)]
        : protocols.includes(protocol)
          ? []
          : [unsupportedValue(`${field}.protocol`, protocol, protocols)]),
      ...(port === undefined ? [] : invalidUnless(`${field}.port`, port, checkPort(port))),
      ...(appProtocol === undefined
        ? []
        : invalidUnless(`${field}.appProtocol`, appProtocol, checkQualifiedName(appProtocol))),
    ];
  });
}

const listedLimit = 3;

function shortList(items: readonly string[], none: string): string {
  if (items.length === 0) return none;
  const listed = items.slice(0, listedLimit).join(',');
  return items.length > listedLimit ? `${listed} + ${items.length - listedLimit} more...` : listed;
}

/** Where some of the pods of a service are. */
export const endpointSliceKind = defineKind<EndpointSlice>({
  group: 'discovery',
  version: 'v1',
  kind: 'EndpointSlice',
  doc: 'Where some of the pods of a service are to be found.',
  resource: 'endpointslices',
  singular: 'endpointslice',
  namespaced: true,
  generation: 'fields',
  root: endpointSliceRoot,
  default: withDefaults,
  validate,
  columns: [
    textColumn('AddressType', 0, 'IPv4, IPv6 or FQDN.', ({ addressType }) => addressType ?? ''),
    textColumn('Ports', 0, 'Ports of each endpoint.', ({ ports = [] }) =>
      shortList(
        ports.map(({ port }) => (port === undefined ? '*' : String(port))),
        '<unset>',
      ),
    ),
    textColumn('Endpoints', 0, 'Addresses of the endpoints.', ({ endpoints = [] }) =>
      shortList(
        endpoints.flatMap(({ addresses = [] }) => addresses.slice(0, 1)),
        '<unset>',
      ),
    ),
    ageColumn,
  ],
});
