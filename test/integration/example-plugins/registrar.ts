/**
 * An example of what stands behind registration sockets, good and bad, for tests of the registry. Nothing is behind the
 * registration.
 *
 *   node registrar.ts --folder FOLDER --prefix TEXT [--count N] [--type TYPE] [--name NAME] [--version TEXT]
 *                     [--mode MODE]
 *
 * Makes FOLDER/TEXT-0.sock and so on, of plugins NAME-0 and so on (of one socket NAME). Modes:
 *
 *   good      answers as it should
 *   hang      never answers who it is, though it speaks gRPC
 *   mute      takes connections and says nothing
 *   garbage   answers whatever comes with bytes that are no HTTP
 *   noise     sends without end
 *   huge      answers a megabyte for its name
 *   crash     dies of the first question
 *   deaf      fails to hear what came of it
 *   flapping  makes its sockets anew every 10 ms until it reads a SIGUSR2, and is good from then on
 */
import { randomBytes } from 'node:crypto';
import { unlink } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Registration } from '../../../src/agent/plugins/gen/registration_pb.js';
import type { Implementation } from '../../../src/base/grpc/index.ts';
import { GrpcError, grpcCodes, implement, serveUnix } from '../../../src/base/grpc/index.ts';
import { silentLogger } from '../../../src/base/index.ts';
import { say, serveUntilTold } from './behaviour.ts';

const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: '.' },
    prefix: { type: 'string', default: 'plugin' },
    count: { type: 'string', default: '1' },
    type: { type: 'string', default: 'TestPlugin' },
    name: { type: 'string', default: 'plugin.example.com' },
    version: { type: 'string', default: '1.0.0' },
    mode: { type: 'string', default: 'good' },
  },
});
const { folder, prefix, type, name, version, mode } = values;
const count = Number(values.count);

/** Something at a path; disposing of it removes it. */
async function standAt(socket: string, index: number): Promise<AsyncDisposable> {
  const own = count === 1 ? name : `${name}-${index}`;
  if (mode === 'mute' || mode === 'garbage' || mode === 'noise') return await raw(socket);
  return await serveUnix({ path: resolve(socket), services: [service(own, socket)], log: silentLogger() });
}

function service(own: string, socket: string): Implementation {
  return implement(Registration, {
    async getInfo(_request, { signal }) {
      if (mode === 'crash') process.kill(process.pid, 'SIGKILL');
      if (mode === 'hang') await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { type, name: mode === 'huge' ? 'x'.repeat(1024 * 1024) : own, supportedVersions: [version] };
    },
    async notifyRegistrationStatus({ pluginRegistered, error }) {
      if (mode === 'deaf') throw new GrpcError(grpcCodes.UNAVAILABLE, 'I do not listen');
      say(pluginRegistered ? 'registered' : 'refused', { name: own, socket, error });
      return {};
    },
  });
}

/** What speaks no gRPC; relative paths, which may be longer in full than a socket's may be, are made as they are. */
async function raw(socket: string): Promise<AsyncDisposable> {
  const server = createServer((peer) => {
    peer.on('error', () => undefined);
    if (mode === 'garbage') peer.on('data', () => peer.write(randomBytes(2000)));
    if (mode === 'noise') void talk(peer);
  });
  await new Promise<void>((done) => server.listen(socket, done));
  return {
    async [Symbol.asyncDispose]() {
      server.close();
      await unlink(socket).catch(() => undefined);
    },
  };
}

async function talk(peer: Socket): Promise<void> {
  const chunk = Buffer.alloc(64 * 1024);
  while (!peer.destroyed) {
    peer.write(chunk);
    await sleep(1);
  }
}

/** Makes them anew, each in the place of its predecessor, until it is told to be quiet. */
async function flap(sockets: readonly string[]): Promise<AsyncDisposable[]> {
  const quiet = new AbortController();
  process.once('SIGUSR2', () => quiet.abort());
  let former: AsyncDisposable[] = [];
  for (;;) {
    const isLast = quiet.signal.aborted;
    const servers = await Promise.all(sockets.map(standAt));
    for (const server of former) void server[Symbol.asyncDispose]();
    if (isLast) return servers;
    former = servers;
    await sleep(10);
  }
}

const sockets = Array.from({ length: count }, (_, index) => join(folder, `${prefix}-${index}.sock`));
if (mode === 'flapping') say('serving', { pid: process.pid });
const servers = mode === 'flapping' ? await flap(sockets) : await Promise.all(sockets.map(standAt));
await serveUntilTold(servers);
