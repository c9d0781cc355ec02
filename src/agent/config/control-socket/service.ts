import { once } from 'node:events';
import { chmod, lstat, mkdtemp, rename, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Clock, Logger, Service } from '../../../base/index.ts';
import { describeError, ExitError, errorCode, exitCodes } from '../../../base/index.ts';
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
  clock: Clock;
  log: Logger;
  /** Between two checks that the socket still exists; default 5 s. */
  lookMs?: number;
}

const maxConnections = 16;
/** For the whole request to arrive. */
const requestTimeoutMs = 5000;
/** The kernel's limit for the path of a socket, its ending NUL excluded. */
const pathLimitBytes = 107;

/**
 * The service `control-socket`: takes commands for the running agent over a unix socket in the root folder, which its
 * owner and root alone may open. The socket that a killed agent has left is replaced; one that another process has removed
 * or replaced is created again. Where there can be none, because its path would be too long or nothing can be written, the
 * agent runs on, logs that once, and tries again.
 */
export function controlSocketService(options: ControlSocketOptions): Service {
  const { rootDir, dependsOn, clock, log, lookMs = 5000 } = options;
  const path = controlSocketPath(rootDir);
  let isFailureLogged = false;

  async function serve(signal: AbortSignal, ready: () => void): Promise<void> {
    await using served = await listenBelow(options);
    isFailureLogged = false;
    ready();
    do await clock.sleep(lookMs, signal);
    while (!signal.aborted && (await readInode(path)) === served.inode);
    if (!signal.aborted) log.warn(`${path} was removed or replaced; created again`);
  }

  return {
    name: 'control-socket',
    dependsOn,
    onFailure: 'restart',
    async run(signal, ready) {
      while (!signal.aborted) {
        try {
          await serve(signal, ready);
        } catch (error) {
          if (!isFailureLogged)
            log.warn(`nodeward reload cannot be used, SIGHUP can: ${describeError(error)}`);
          isFailureLogged = true;
          ready();
          await clock.sleep(lookMs, signal);
        }
      }
    },
  };
}

interface Listening extends AsyncDisposable {
  readonly inode: bigint;
}

/**
 * The socket is made in a folder that only its owner may enter, and moved from there: so it is never open to others, and
 * never missing where an old one was. Disposal leaves a socket that another process has put there since.
 */
async function listenBelow(options: ControlSocketOptions): Promise<Listening> {
  const { rootDir } = options;
  const path = controlSocketPath(rootDir);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)));
    serveConnection(socket, options);
  });
  server.maxConnections = maxConnections;
  const folder = await mkdtemp(join(rootDir, '.sock-')); // 0700
  try {
    const made = join(folder, 's');
    if (Buffer.byteLength(made) > pathLimitBytes)
      throw new Error(`the path of a socket below ${rootDir} has more than ${pathLimitBytes} bytes`);
    server.listen(made);
    await once(server, 'listening');
    await chmod(made, 0o600);
    const { ino: inode } = await lstat(made, { bigint: true });
    await rename(made, path);
    return {
      inode,
      async [Symbol.asyncDispose]() {
        if ((await readInode(path)) === inode) await rm(path, { force: true });
        server.close();
        for (const socket of sockets) socket.destroy();
      },
    };
  } catch (error) {
    server.close();
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readInode(path: string): Promise<bigint | undefined> {
  try {
    return (await lstat(path, { bigint: true })).ino;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
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
