import { lstat } from 'node:fs/promises';
import { connect } from 'node:net';
import { isAbsolute } from 'node:path';

/** The kernel's limit for the path of a socket, without the final NUL. */
export const maxSocketPathBytes = 107;

/** Returns why a path cannot be that of a unix socket; undefined where it can. */
export function findSocketPathFault(path: string): string | undefined {
  if (!isAbsolute(path) || path.includes('\0')) return 'a socket needs an absolute path';
  const bytes = Buffer.byteLength(path);
  if (bytes <= maxSocketPathBytes) return undefined;
  return `a socket's path has at most ${maxSocketPathBytes} bytes, this one has ${bytes}`;
}

/** How long a server may take to accept a connection, in milliseconds. */
const acceptMs = 1000;

/** Whether a server listens at `path`. One that accepts no connection for a second counts as listening. */
export async function isListening(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSocket() !== true) return false;
  return await new Promise((resolve) => {
    const socket = connect(path);
    const settle = (listening: boolean) => {
      socket.destroy();
      resolve(listening);
    };
    socket.setTimeout(acceptMs, () => settle(true));
    socket.once('connect', () => settle(true));
    socket.once('error', ({ code }: NodeJS.ErrnoException) => settle(code === 'EAGAIN'));
  });
}
