import { readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readRegularFile, tryParseRecord } from '../../base/index.ts';
import type { Connection } from './connection.ts';
import { RuntimeError } from './errors.ts';
import { ImageService, RuntimeService } from './gen/cri_pb.js';
import { Introspection } from './gen/introspection_pb.js';
import type { DumpFolder } from './types.ts';

/**
 * See `Runtime.dumpFolders`. Observed with containerd 2.1: criu writes to `ctrd-checkpointNNN` in the daemon's
 * XDG_RUNTIME_DIR, or else its folder for temporary files; that is packed into the content store and unpacked again beside
 * the container's state, both in its root folder. Other runtimes use the file system of their images.
 *
 * The daemon is asked each time which process it is, because it may have been started again; the rest is remembered
 * for as long as it is the same process.
 */
export function findDumpFolders(
  connection: Connection,
  root: string,
  deadlineMs: number,
): () => Promise<readonly DumpFolder[]> {
  let known: { pid: number; folders: readonly DumpFolder[] } | undefined;
  return async () => {
    const pid = await findDaemonPid(connection, root, deadlineMs);
    if (pid === 'otherRuntime') return await findImageFolders(connection, deadlineMs);
    if (pid === undefined || known?.pid !== pid) {
      const folders = await findContainerdFolders(connection, root, pid, deadlineMs);
      if (pid === undefined) return folders;
      known = { pid, folders };
    }
    return known.folders;
  };
}

/** undefined when the process is not visible from here. */
async function findDaemonPid(
  connection: Connection,
  root: string,
  deadlineMs: number,
): Promise<number | 'otherRuntime' | undefined> {
  try {
    const { pid, pidns } = await connection.call(Introspection.method.server, {}, { deadlineMs });
    const own = await readlink(join(root, 'proc/self/ns/pid')).catch(() => '');
    return pid === 0n || (pidns !== 0n && own !== `pid:[${pidns}]`) ? undefined : Number(pid);
  } catch (error) {
    if (error instanceof RuntimeError && error.reason === 'unimplemented') return 'otherRuntime';
    throw error;
  }
}

async function findContainerdFolders(
  connection: Connection,
  root: string,
  pid: number | undefined,
  deadlineMs: number,
): Promise<readonly DumpFolder[]> {
  const { info } = await connection.call(RuntimeService.method.status, { verbose: true }, { deadlineMs });
  const state = parseRootFolder(info['config'] ?? '{}');
  const process = pid === undefined ? undefined : join(root, 'proc', String(pid));
  const temporary = process && (await readTemporaryFolder(process));
  // the daemon may run in a mount namespace of its own
  const isVisible = process && (await stat(join(process, 'root')).catch(() => undefined));
  const from = process && isVisible ? join(process, 'root') : root;
  const folder = (name: string, dumps: boolean): DumpFolder => ({ name, path: join(from, name), dumps });
  return [
    ...(temporary === undefined ? [] : [folder(temporary, true)]),
    ...(state === undefined ? [] : [folder(state, false)]),
  ];
}

/** undefined where the process is another user's. */
async function readTemporaryFolder(process: string): Promise<string | undefined> {
  try {
    const bytes = await readRegularFile(join(process, 'environ'), { limitBytes: 256 * 1024 });
    const variables = new Map(
      bytes
        .toString('utf8')
        .split('\0')
        .map((entry): [string, string] => {
          const at = entry.indexOf('=');
          return [entry.slice(0, at), entry.slice(at + 1)];
        }),
    );
    return variables.get('XDG_RUNTIME_DIR') || variables.get('TMPDIR') || '/tmp';
  } catch {
    return undefined;
  }
}

/** The format of the text is the runtime's own. */
function parseRootFolder(text: string): string | undefined {
  const found = tryParseRecord(text)?.['containerdRootDir'];
  return typeof found === 'string' && found.startsWith('/') ? found : undefined;
}

async function findImageFolders(connection: Connection, deadlineMs: number): Promise<readonly DumpFolder[]> {
  const { imageFilesystems } = await connection.call(ImageService.method.imageFsInfo, {}, { deadlineMs });
  const names = imageFilesystems.flatMap(({ fsId }) => (fsId?.mountpoint ? [fsId.mountpoint] : []));
  return names.map((name) => ({ name, path: name, dumps: false }));
}
