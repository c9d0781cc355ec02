import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer as createHttpServer } from 'node:http';
import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { after } from 'node:test';
import { ProbeCommands } from '../../../../src/agent/probes/commands.ts';
import type { ProbeTools } from '../../../../src/agent/probes/run-probe.ts';
import { runProbe } from '../../../../src/agent/probes/run-probe.ts';
import type { Probe, ProbeOutcome } from '../../../../src/agent/probes/types.ts';
import { systemClock } from '../../../../src/base/index.ts';

const open: { server: Server; sockets: Set<Socket> }[] = [];
after(() => {
  for (const { server, sockets } of open) {
    server.close();
    for (const socket of sockets) socket.destroy();
  }
});

/** Listens on a free port until the tests of the file have ended; returns the port. */
export async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  open.push({ server, sockets });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it has no port');
  return address.port;
}

export const serveHttp = (answer: RequestListener) => listen(createHttpServer(answer));
export const serveBytes = (answer: (socket: Socket) => void) => listen(createServer(answer));

/** The port of a server that has ended. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const closed = once(server, 'close');
  server.close();
  await closed;
  if (address === null || typeof address === 'string') throw new Error('it has no port');
  return address.port;
}

export const noExec: ProbeTools = {
  calls: { execSync: () => Promise.reject(new Error('nothing is to be executed')) },
  commands: new ProbeCommands(systemClock, () => 4).ofPod('p1'),
  clock: systemClock,
};

/** Runs the probe of a container with a port `web` at 127.0.0.1; unless it says otherwise it has time, as the machine may be slow. */
export async function probeAt(
  probe: Probe,
  { port = 1, tools = {} }: { port?: number; tools?: Partial<ProbeTools> } = {},
): Promise<ProbeOutcome> {
  const container = { ports: [{ name: 'web', containerPort: port }] };
  const place = { containerId: 'c1', host: '127.0.0.1', container };
  return await runProbe(
    { timeoutSeconds: 30, ...probe },
    place,
    { ...noExec, ...tools },
    new AbortController().signal,
  );
}
