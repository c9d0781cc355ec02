import type { Infer } from '../../schema/index.ts';
import { bool, field, int32, list, map, required, string, struct } from '../../schema/index.ts';
import { objectReference } from '../core/object-reference.ts';
import { objectStruct } from '../define.ts';
import { pointer } from '../pod-spec/wire.ts';

const endpointConditions = struct('EndpointConditions', {
  ready: field(1, bool, 'Whether it takes traffic.', pointer),
  serving: field(2, bool, 'Whether it would take traffic, were it not ending.', pointer),
  terminating: field(3, bool, 'Whether it is ending.', pointer),
});

const forZone = struct('ForZone', {
  name: required(1, string, 'Name of the zone.'),
});

const forNode = struct('ForNode', {
  name: required(1, string, 'Name of the node.'),
});

const endpointHints = struct('EndpointHints', {
  forZones: field(1, list(forZone), 'Zones whose clients should use it.'),
  forNodes: field(2, list(forNode), 'Nodes whose clients should use it.'),
});

const endpoint = struct('Endpoint', {
  addresses: required(1, list(string, { list: 'set' }), 'Its addresses; clients use the first.'),
  conditions: field(2, endpointConditions, 'State of the endpoint.', { default: {} }),
  hostname: field(3, string, 'Host name of the endpoint.', pointer),
  targetRef: field(4, objectReference, 'What stands behind it.'),
  deprecatedTopology: field(5, map(string), 'Where it is; of older versions.'),
  nodeName: field(6, string, 'Node that it is on.', pointer),
  zone: field(7, string, 'Zone that it is in.', pointer),
  hints: field(8, endpointHints, 'Who should use it.'),
});

export interface Endpoint extends Infer<typeof endpoint> {}

const endpointPort = struct(
  'EndpointPort',
  {
    name: field(1, string, 'Name of the port.', pointer),
    protocol: field(2, string, 'TCP, UDP or SCTP.', pointer),
    port: field(3, int32, 'Number of the port.', pointer),
    appProtocol: field(4, string, 'What is spoken on the port, a hint for implementations.', pointer),
  },
  { atomic: true },
);

export interface EndpointPort extends Infer<typeof endpointPort> {}

export const endpointSliceRoot = objectStruct('EndpointSlice', {
  addressType: required(4, string, 'IPv4, IPv6 or FQDN.'),
  endpoints: field(2, list(endpoint), 'The endpoints.', { written: true }),
  ports: field(3, list(endpointPort), 'Ports of each endpoint.', { written: true }),
});

export interface EndpointSlice extends Infer<typeof endpointSliceRoot> {}
