import { once } from 'node:events';
import { chmod, lstat, mkdtemp, rename, rm } from 'node:fs/promises';
import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Logger, Service } from '../../../base/index.ts';
import { describeError, ExitError, errorCode, exitCodes, untilAborted } from '../../../base/index.ts';
import type { Reloaded } from '../index.ts';
import type { AgentDescription } from './description.ts';
import type { ControlAnswer } from './protocol.ts';
import {
  controlSocketPath,
  describeRequest,
  parseCommand,
  reloadRequest,
  requestLimitBytes,
} from './protocol.ts';

export interface ControlSocketOptions {
  rootDir: string;
  reload(): Promise<Reloaded>;
  describe(): AgentDescription;
  dependsOn: readonly string[];
  log: Logger;
}

const maxConnections = 16;
/** For the whole request to arrive. */
const requestTimeoutMs = 5000;
/** The kernel's limit for the path of a socket, its ending NUL excluded. */
const pathLimitBytes = 107;

/**
 * The service `control-socket`: takes commands for the running agent over a unix socket in the root folder, which its
 * owner and root alone may open. The socket that a killed agent has left is replaced. Where there can be none, because its
 * path would be too long or nothing can be written, the agent runs on and logs that once.
 */
export function controlSocketService(options: ControlSocketOptions): Service {
  const { rootDir, dependsOn, log } = options;
  return {
    name: 'control-socket',
    dependsOn,
    onFailure: 'restart',
    async run(signal, ready) {
      const sockets = new Set<Socket>();
      const server = createServer((socket) => {
        sockets.add(socket.once('close', () => sockets.delete(socket)));
        serveConnection(socket, options);
      });
      server.maxConnections = maxConnections;
      const remove = await listenBelow(rootDir, server).catch((error: unknown) => {
        log.warn(`nodeward reload cannot be used, SIGHUP can: ${describeError(error)}`);
        return async () => undefined;
      });
      ready();
      await untilAborted(signal);
      await remove();
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/**
 * The socket is made in a folder that only its owner may enter, and moved from there: so it is never open to others, and
 * never missing where an old one was. Returns how to remove it, which leaves a socket that another agent has put there since.
 */
async function listenBelow(rootDir: string, server: Server): Promise<() => Promise<void>> {
  const path = controlSocketPath(rootDir);
  const folder = await mkdtemp(join(rootDir, '.sock-')); // 0700
  try {
    const made = join(folder, 's');
    if (Buffer.byteLength(made) > pathLimitBytes)
      throw new Error(`the path of a socket below ${rootDir} has more than ${pathLimitBytes} bytes`);
    server.listen(made);
    await once(server, 'listening');
    await chmod(made, 0o600);
    const { ino } = await lstat(made);
    await rename(made, path);
    return () => removeOwn(path, ino);
  } catch (error) {
    server.close();
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function removeOwn(path: string, ino: number): Promise<void> {
  try {
    if ((await lstat(path)).ino === ino) await rm(path, { force: true });
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

function serveConnection(socket: Socket, options: ControlSocketOptions): void {
  let request = '';
  socket
    .setEncoding('utf8')
    .on('error', (error) => options.log.debug(`control socket: ${describeError(error)}`));
  const late = setTimeout(() => socket.destroy(), requestTimeoutMs);
  socket.once('close', () => clearTimeout(late));
  socket.on('data', function take(text: string) {
    request += text;
    const end = request.indexOf('\n');
    if (end < 0 && Buffer.byteLength(request) <= requestLimitBytes) return;
    clearTimeout(late);
    socket.off('data', take).resume(); // the rest is ignored
    void answer(request.slice(0, end < 0 ? 0 : end), options).then((result) => {
      socket.end(`${JSON.stringify(result)}\n`);
    });
  });
}

async function answer(
  line: string,
  { reload, describe }: Pick<ControlSocketOptions, 'reload' | 'describe'>,
): Promise<ControlAnswer> {
  const command = parseCommand(line);
  try {
    if (command === reloadRequest.command) return { ok: true, ...(await reload()) };
    if (command === describeRequest.command) return { ok: true, agent: describe() };
    const known = [reloadRequest, describeRequest].map((request) => JSON.stringify(request)).join(' and ');
    const message = `the agent knows no such request; it takes ${known}`;
    return { ok: false, configuration: false, message };
  } catch (error) {
    return { ok: false, configuration: isConfiguration(error), message: describeError(error) };
  }
}

function isConfiguration(error: unknown): boolean {
  return error instanceof ExitError && error.exitCode === exitCodes.configuration;
}
