import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { SupervisedProcess } from '../../support/index.ts';
import { startProcess } from '../../support/index.ts';
import type { LabMachine } from '../lab/index.ts';
import { startRegistry } from '../lab/index.ts';
import { registryPort } from './stand-ins.ts';

/** That of the README, and those for the sandboxes of the containerd versions. */
const images = ['library/nginx:latest', 'pause:3.6', 'pause:3.8', 'pause:3.10', 'pause:3.10.1'];

/** A registry with the images that the README and containerd name. Disposal ends it. */
export interface StandInRegistry extends AsyncDisposable {
  /** Lets a machine without a network reach it, at 127.0.0.1 there, until what is returned is disposed of. */
  connectTo(machine: LabMachine): Promise<SupervisedProcess>;
}

/** Its socket will be in the folder. */
export async function startStandInRegistry(folder: string): Promise<StandInRegistry> {
  await using setup = new AsyncDisposableStack();
  const registry = setup.use(await startRegistry());
  for (const image of images) await registry.add(image);
  const { hostname, port } = new URL(`http://${registry.host}`);
  const socket = join(folder, 'registry.sock');
  const server = setup.use(
    createServer((client) => {
      const there = connect(Number(port), hostname);
      for (const [from, to] of [[client, there] as const, [there, client] as const]) {
        pipeline(from, to).catch(() => [client, there].map((each) => each.destroy()));
      }
    }),
  );
  await once(server.listen(socket), 'listening');
  const resources = setup.move();
  return {
    connectTo: async (machine) => {
      const target = `--target=${await machine.pid()}`;
      const node = [process.execPath, '--eval', relay, socket, String(registryPort)];
      const child = await startProcess('nsenter', ['--net', target, ...node]);
      await child.waitForOutput(/^relaying$/m);
      return child;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Sockets with paths are the same in all networks. */
const relay = `
  const net = require('node:net');
  const [socket, port] = process.argv.slice(1);
  net.createServer((client) => {
    const server = net.connect(socket);
    const end = () => { client.destroy(); server.destroy(); };
    for (const each of [client, server]) each.on('error', end).on('close', end);
    client.pipe(server).pipe(client);
  }).listen(Number(port), '127.0.0.1', () => console.log('relaying'));
`;
