import { spawn } from 'node:child_process';
import { startChild, tryParseRecord } from '../../base/index.ts';

/*
 * A file system that hangs (of a network, of a dead disk) blocks the calling thread for ever, and a process with such a
 * thread cannot even exit. So every path outside /proc and /sys is inspected by a child process that may be left behind.
 */

export interface PathQuery {
  readonly path: string;
  /** Tried in order when nothing exists at `path`; the first that exists is inspected. */
  readonly orElse?: readonly string[];
  /** Also the entries of the folder, at most this many. */
  readonly entries?: number;
  /** Also the first 64 KiB of entries that are regular files whose names end in one of these. */
  readonly textOf?: readonly string[];
  /** Also the space of its file system. */
  readonly space?: boolean;
}

type FileKind = 'file' | 'folder' | 'link' | 'socket' | 'other';

export interface Entry {
  readonly name: string;
  readonly kind: FileKind;
  readonly uid: number;
  readonly mode: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly text?: string;
}

export interface Space {
  readonly totalBytes: number;
  /** Available to ordinary users. */
  readonly freeBytes: number;
  /** Zero where the file system has no fixed number of them. */
  readonly inodes: number;
  readonly freeInodes: number;
}

export interface PathFacts extends Entry {
  /** The path that was inspected: the one that was asked for, or one of `orElse`. */
  readonly path: string;
  /** The path with all links resolved. */
  readonly realPath: string;
  /** Device and inode, which identify the file. */
  readonly dev: number;
  readonly ino: number;
  readonly entries?: readonly Entry[];
  readonly space?: Space;
}

/** What was found, or the system's error code, such as ENOENT or EACCES. */
export type PathResult = { readonly found: PathFacts } | { readonly fault: string };

/**
 * Inspects in this process. The child runs the source text of this function, so it must not use anything else of this
 * file, neither imports nor other functions.
 */
export function inspectPath(what: PathQuery): PathResult {
  const fs = process.getBuiltinModule('node:fs');
  const entryOf = (name: string, path: string, follow: boolean): Entry => {
    const facts = follow ? fs.statSync(path) : fs.lstatSync(path);
    const kinds: [boolean, FileKind][] = [
      [facts.isFile(), 'file'],
      [facts.isDirectory(), 'folder'],
      [facts.isSymbolicLink(), 'link'],
      [facts.isSocket(), 'socket'],
    ];
    const kind = kinds.find(([is]) => is)?.[1] ?? 'other';
    const { uid, size, mtimeMs } = facts;
    return { name, kind, uid, size, mtimeMs, mode: facts.mode & 0o7777 };
  };
  const textOf = (path: string): string => {
    const descriptor = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    try {
      const bytes = Buffer.alloc(64 * 1024);
      return bytes.subarray(0, fs.readSync(descriptor, bytes, 0, bytes.length, 0)).toString('utf8');
    } finally {
      fs.closeSync(descriptor);
    }
  };
  const listOf = (path: string, limit: number): Entry[] => {
    const names = fs.readdirSync(path).sort().slice(0, limit);
    return names.flatMap((name) => {
      try {
        const entry = entryOf(name, `${path}/${name}`, false);
        const wanted = entry.kind === 'file' && what.textOf?.some((end) => name.endsWith(end));
        return [wanted ? { ...entry, text: textOf(`${path}/${name}`) } : entry];
      } catch {
        return []; // removed meanwhile, or not readable by this user
      }
    });
  };
  const spaceOf = (path: string): Space => {
    const { bsize, blocks, bavail, files, ffree } = fs.statfsSync(path);
    return { totalBytes: blocks * bsize, freeBytes: bavail * bsize, inodes: files, freeInodes: ffree };
  };
  try {
    const path = [what.path, ...(what.orElse ?? [])].find((each) => fs.existsSync(each)) ?? what.path;
    const entry = entryOf(path, path, true);
    const listed = what.entries !== undefined && entry.kind === 'folder';
    const entries = listed ? { entries: listOf(path, what.entries ?? 0) } : {};
    const space = what.space ? { space: spaceOf(path) } : {};
    const { dev, ino } = fs.statSync(path);
    return { found: { ...entry, path, realPath: fs.realpathSync(path), dev, ino, ...entries, ...space } };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return { fault: typeof code === 'string' ? code : String(error) };
  }
}

const maxReplyBytes = 8 * 1024 * 1024;

/** Inspects in a child process; rejects when `signal` aborts, even if the child cannot be killed. */
export async function inspectPathInChild(what: PathQuery, signal: AbortSignal): Promise<PathResult> {
  signal.throwIfAborted();
  const program = `process.stdout.write(JSON.stringify((${inspectPath.toString()})(JSON.parse(process.argv[1]))))`;
  const child = await startChild(() =>
    spawn(process.execPath, ['-e', program, '--', JSON.stringify(what)], {
      env: {},
      cwd: '/',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
  const { promise, resolve, reject } = Promise.withResolvers<PathResult>();
  const chunks: Buffer[] = [];
  let total = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    total += chunk.length;
    if (total <= maxReplyBytes) chunks.push(chunk);
  });
  const giveUp = () => {
    child.kill('SIGKILL');
    child.stdout.destroy();
    child.unref();
    reject(signal.reason);
  };
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  child.once('close', (code) => {
    if (code === 0) resolve(parseResult(Buffer.concat(chunks).toString('utf8'), what.path));
    else reject(new Error(`looking at ${what.path} failed`));
  });
  return await promise.finally(() => signal.removeEventListener('abort', giveUp));
}

/** Checked lightly: the child runs this file's own code. */
function parseResult(text: string, path: string): PathResult {
  const answer = tryParseRecord(text);
  if (answer !== undefined && isPathResult(answer)) return answer;
  throw new Error(`looking at ${path} gave no answer`);
}

function isPathResult(value: object): value is PathResult {
  return 'found' in value || ('fault' in value && typeof value.fault === 'string');
}
