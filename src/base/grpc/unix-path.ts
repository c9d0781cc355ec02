import { lstat } from 'node:fs/promises';
import { connect } from 'node:net';
import { isAbsolute } from 'node:path';

/** The kernel's limit for the path of a socket in bytes, its ending NUL excluded. */
export const socketPathLimit = 107;

/** What is wrong with a path as that of a unix socket; undefined where nothing is. */
export function socketPathFault(path: string): string | undefined {
  if (!isAbsolute(path) || path.includes('\0')) return 'a socket needs an absolute path';
  const bytes = Buffer.byteLength(path);
  if (bytes <= socketPathLimit) return undefined;
  return `a socket's path has at most ${socketPathLimit} bytes, this one has ${bytes}`;
}

/** How long a living server may take to accept a connection, in milliseconds. */
const acceptMs = 1000;

/** Whether somebody listens there. A server that accepts nothing for a second counts as listening. */
export async function isListening(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSocket() !== true) return false;
  return await new Promise((resolve) => {
    const socket = connect(path);
    const tell = (listening: boolean) => {
      socket.destroy();
      resolve(listening);
    };
    socket.setTimeout(acceptMs, () => tell(true));
    socket.once('connect', () => tell(true));
    socket.once('error', ({ code }: NodeJS.ErrnoException) => tell(code === 'EAGAIN'));
  });
}
