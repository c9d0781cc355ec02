import { realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { repository } from '../lab/index.ts';
import type { PodSpec } from './containers.ts';
import { script } from './containers.ts';

/** The numbers are those of grpc.health.v1.HealthCheckResponse; `web` is the only service that there is. */
const server = `
const { Server, ServerCredentials, status } = require('@grpc/grpc-js');
const { existsSync } = require('node:fs');
const bytes = (value) => value;
const method = {
  path: '/grpc.health.v1.Health/Check', requestStream: false, responseStream: false,
  requestSerialize: bytes, requestDeserialize: bytes, responseSerialize: bytes, responseDeserialize: bytes,
};
const check = ({ request }, answer) => {
  if (request.subarray(2).toString() !== 'web') answer({ code: status.NOT_FOUND, details: 'unknown service' });
  else answer(null, Buffer.from([8, existsSync('/tmp/sick') ? 2 : 1]));
};
const server = new Server();
server.addService({ check: method }, { check });
server.bindAsync('0.0.0.0:' + process.argv[2], ServerCredentials.createInsecure(), (error) => { if (error) throw error; });
process.on('SIGTERM', () => process.exit(0));
`;

/**
 * A pod with a gRPC server of the health protocol: grpc-js in this Node.js, which it has from the machine with the libraries that it
 * needs. The service `web` serves until there is a file /tmp/sick. `folder` keeps the server's script while the pod runs.
 */
export async function grpcHealthServer(
  folder: string,
  port: number,
  probes: Parameters<typeof script>[2],
): Promise<PodSpec> {
  await writeFile(join(folder, 'health.cjs'), server);
  const mounted: Readonly<Record<string, string>> = {
    '/app': folder,
    '/node': dirname(await realpath(process.execPath)),
    '/node_modules': join(repository, 'node_modules'),
    '/lib': await realpath('/lib'),
    '/usr/lib': await realpath('/usr/lib'),
  };
  const places = Object.entries(mounted).map(([mountPath, path], index) => ({
    name: `v${index}`,
    mountPath,
    path,
  }));
  // its own loader is given by name: where it stands differs between machines
  const text = `for each in /lib/*/ld-linux-*.so.*; do exec $each /node/node /app/health.cjs ${port}; done`;
  const volumeMounts = places.map(({ name, mountPath }) => ({ name, mountPath, readOnly: true }));
  return {
    containers: [script('main', text, { ...probes, volumeMounts })],
    volumes: places.map(({ name, path }) => ({ name, hostPath: { path, type: 'Directory' } })),
  };
}
