import type { Infer } from '../../schema/index.ts';
import { field, int32, list, required, string, struct } from '../../schema/index.ts';
import { objectReference } from '../core/object-reference.ts';
import { objectStruct } from '../define.ts';
import { pointer } from '../pod-spec/wire.ts';

const endpointAddress = struct(
  'EndpointAddress',
  {
    ip: required(1, string, 'The address.'),
    hostname: field(3, string, 'Host name of the address.'),
    nodeName: field(4, string, 'Node that the address is on.', pointer),
    targetRef: field(2, objectReference, 'What has the address.'),
  },
  { atomic: true },
);

const endpointPort = struct(
  'EndpointPort',
  {
    name: field(1, string, 'Name of the port.'),
    port: field(2, int32, 'Number of the port.', { written: true }),
    protocol: field(3, string, 'TCP, UDP or SCTP.'),
    appProtocol: field(4, string, 'What is spoken on the port, a hint for implementations.', pointer),
  },
  { atomic: true },
);

const endpointSubset = struct('EndpointSubset', {
  addresses: field(1, list(endpointAddress), 'Addresses that are ready.'),
  notReadyAddresses: field(2, list(endpointAddress), 'Addresses that are not ready.'),
  ports: field(3, list(endpointPort), 'Ports of each address.'),
});

export interface EndpointSubset extends Infer<typeof endpointSubset> {}

export const endpointsRoot = objectStruct('Endpoints', {
  subsets: field(2, list(endpointSubset), 'Addresses and ports that belong together.'),
});

export interface Endpoints extends Infer<typeof endpointsRoot> {}
