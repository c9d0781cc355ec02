import { access, constants, lstat, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../../base/index.ts';

/*
 * Where the lock of a runtime is. Two agents may name one socket by different paths, so the lock is found from the socket:
 *
 *   links are followed, and the lock is in the folder in which the socket really is: a folder that is mounted somewhere else
 *   too, or in another mount namespace, is the same folder
 *   a socket that is mounted alone, as a file, is looked for in the file system that it comes from
 *
 * The folder outlives the socket, which a runtime makes again at each start. An abstract socket as a lock would be no good: any
 * user could take its name.
 */

/** In the folder of the socket; of root alone. */
const lockFolderOf = (socket: string) => join(dirname(socket), `nodeward-${basename(socket)}`);

/** The folder of the lock of the runtime behind `socket`; undefined where there is none that this process may connect to. */
export async function findRuntimePlace(socket: string): Promise<string | undefined> {
  try {
    const real = await realpath(socket);
    if (!(await stat(real)).isSocket()) return undefined;
    await access(real, constants.W_OK); // needed to connect
    return lockFolderOf(await findOriginal(real));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG'].includes(errorCode(error) ?? ''))
      return undefined;
    throw error;
  }
}

interface Mounted {
  readonly device: string;
  /** The folder, or file, of the file system that is mounted. */
  readonly root: string;
  readonly point: string;
}

/** The path of the socket in its own folder, where this process sees that; else the path itself. */
async function findOriginal(real: string): Promise<string> {
  const mounts = parseMounts(await readFile('/proc/self/mountinfo', 'utf8'));
  const alone = mounts.findLast(({ point }) => point === real);
  if (alone === undefined) return real;
  const wanted = await lstat(real, { bigint: true });
  for (const { device, root, point } of mounts) {
    const folder = root === '/' ? '/' : `${root}/`;
    if (device !== alone.device || !alone.root.startsWith(folder)) continue;
    const path = join(point, alone.root.slice(folder.length));
    const found = path === real ? undefined : await lstat(path, { bigint: true }).catch(() => undefined);
    if (found?.dev === wanted.dev && found.ino === wanted.ino) return path;
  }
  return real;
}

function parseMounts(mountinfo: string): Mounted[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [, , device = '', root, point] = line.split(' ');
    return root === undefined || point === undefined
      ? []
      : [{ device, root: decodeOctal(root), point: decodeOctal(point) }];
  });
}

/** Blanks and the like are written in octal. */
function decodeOctal(text: string): string {
  const bytes = Buffer.from(text).toString('latin1');
  const plain = bytes.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
  return Buffer.from(plain, 'latin1').toString();
}
