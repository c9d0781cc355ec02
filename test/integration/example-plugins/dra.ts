/**
 * An example of a driver of dynamically allocated resources, for tests: its registration socket, and behind it DRAPlugin in
 * one version or both. What it prepares bears its `--mark`, so that two processes of one driver are told apart.
 *
 *   node dra.ts --registration SOCKET --endpoint SOCKET --name NAME --mark TEXT [--service v1.DRAPlugin]…
 *               [--cdi ID] [--refuse UID] [--hang N] [--fail N] [--crash]
 */
import { parseArgs } from 'node:util';
import { DRAPlugin as V1 } from '../../../src/agent/plugins/dra/gen/v1_pb.js';
import { DRAPlugin as V1Beta1 } from '../../../src/agent/plugins/dra/gen/v1beta1_pb.js';
import type { Handlers } from '../../../src/base/grpc/index.ts';
import { implement, serveUnix } from '../../../src/base/grpc/index.ts';
import { silentLogger } from '../../../src/base/index.ts';
import { createMisbehaviour, say, serveUntilTold } from './behaviour.ts';
import { registration } from './registration.ts';

const { values } = parseArgs({
  options: {
    registration: { type: 'string', default: '' },
    endpoint: { type: 'string', default: '' },
    name: { type: 'string', default: 'dra.example.com' },
    mark: { type: 'string', default: 'one' },
    service: { type: 'string', multiple: true, default: ['v1.DRAPlugin', 'v1beta1.DRAPlugin'] },
    cdi: { type: 'string' },
    refuse: { type: 'string' },
    hang: { type: 'string', default: '0' },
    fail: { type: 'string', default: '0' },
    crash: { type: 'boolean', default: false },
  },
});
const { name, endpoint, mark, service: versions } = values;
const misbehave = createMisbehaviour({
  hang: Number(values.hang),
  fail: Number(values.fail),
  crash: values.crash,
});

function prepared(uid: string) {
  if (uid === values.refuse) return { error: `no device is left for ${uid}` };
  const cdiDeviceIds = [values.cdi ?? `example.com/gpu=${mark}`];
  return { devices: [{ requestNames: ['gpu'], poolName: 'node', deviceName: mark, cdiDeviceIds }] };
}

const handlers = (version: string): Handlers<typeof V1> => ({
  async nodePrepareResources({ claims }, { signal }) {
    say('NodePrepareResources', { version, claims: claims.map(({ uid }) => uid) });
    await misbehave(signal);
    return { claims: Object.fromEntries(claims.map(({ uid }) => [uid, prepared(uid)])) };
  },
  async nodeUnprepareResources({ claims }, { signal }) {
    say('NodeUnprepareResources', { version, claims: claims.map(({ uid }) => uid) });
    await misbehave(signal);
    return { claims: Object.fromEntries(claims.map(({ uid }) => [uid, {}])) };
  },
});

const log = silentLogger();
const services = [
  ...(versions.includes('v1.DRAPlugin') ? [implement(V1, handlers('v1'))] : []),
  ...(versions.includes('v1beta1.DRAPlugin') ? [implement(V1Beta1, handlers('v1beta1'))] : []),
];
await serveUntilTold([
  await serveUnix({ path: endpoint, services, log }),
  await serveUnix({
    path: values.registration,
    services: [registration({ type: 'DRAPlugin', name, endpoint, versions })],
    log,
  }),
]);
