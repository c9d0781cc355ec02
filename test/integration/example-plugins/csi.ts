/**
 * An example of a CSI driver on a node, for tests: its registration socket, and behind it csi.v1 Identity and Node.
 *
 *   node csi.ts --registration SOCKET --endpoint SOCKET --name NAME --node-id ID [--version 1.9.0]… [--topology KEY=VALUE]…
 *               [--max-volumes N] [--hang N] [--fail N] [--crash] [--volumes FOLDER] [--answers FILE]
 */
import { parseArgs } from 'node:util';
import { Identity, Node } from '../../../src/agent/plugins/csi/gen/csi_pb.js';
import { implement, serveUnix } from '../../../src/base/grpc/index.ts';
import { silentLogger } from '../../../src/base/index.ts';
import { createMisbehaviour, say, serveUntilTold } from './behaviour.ts';
import { folderVolumes } from './csi-volumes.ts';
import { registration } from './registration.ts';

const { values } = parseArgs({
  options: {
    registration: { type: 'string', default: '' },
    endpoint: { type: 'string', default: '' },
    name: { type: 'string', default: 'csi.example.com' },
    'node-id': { type: 'string', default: '' },
    version: { type: 'string', multiple: true, default: ['1.9.0'] },
    topology: { type: 'string', multiple: true, default: [] },
    'max-volumes': { type: 'string', default: '0' },
    hang: { type: 'string', default: '0' },
    fail: { type: 'string', default: '0' },
    crash: { type: 'boolean', default: false },
    volumes: { type: 'string', default: '' },
    answers: { type: 'string', default: '' },
  },
});
const { name, endpoint, version: versions } = values;
const misbehave = createMisbehaviour({
  hang: Number(values.hang),
  fail: Number(values.fail),
  crash: values.crash,
});
const segments = Object.fromEntries(
  values.topology.map((each): [string, string] => [
    each.slice(0, each.indexOf('=')),
    each.slice(each.indexOf('=') + 1),
  ]),
);

const services = [
  implement(Identity, {
    getPluginInfo: async () => ({ name, vendorVersion: '0.1.0' }),
    getPluginCapabilities: async () => ({ capabilities: [] }),
    probe: async () => ({ ready: true }),
  }),
  implement(Node, {
    nodeGetCapabilities: async () => ({ capabilities: [] }),
    ...(values.volumes === '' ? {} : folderVolumes({ folder: values.volumes, answers: values.answers })),
    async nodeGetInfo(_request, { signal }) {
      say('NodeGetInfo');
      await misbehave(signal);
      return {
        nodeId: values['node-id'],
        maxVolumesPerNode: BigInt(values['max-volumes']),
        ...(values.topology.length === 0 ? {} : { accessibleTopology: { segments } }),
      };
    },
  }),
];

const log = silentLogger();
await serveUntilTold([
  await serveUnix({ path: endpoint, services, log }),
  await serveUnix({
    path: values.registration,
    services: [registration({ type: 'CSIPlugin', name, endpoint, versions })],
    log,
  }),
]);
