import { spawn } from 'node:child_process';
import { tryParseRecord } from '../../base/index.ts';

/*
 * A file system that hangs (a network's, a dead disk's) keeps the thread that asked it for ever, and a process with such
 * a thread does not even end. So whatever is outside /proc and /sys is looked at by a child that may be left behind.
 */

export interface Look {
  readonly path: string;
  /** Where there is nothing at `path`, the first of these where there is something. */
  readonly orElse?: readonly string[];
  /** Also the names in it, at most so many, with what each is. */
  readonly entries?: number;
  /** Of the entries that are regular files and end so, also the first 64 KiB. */
  readonly textOf?: readonly string[];
  /** Also the file system that it is on. */
  readonly space?: boolean;
}

export type Kind = 'file' | 'folder' | 'link' | 'socket' | 'other';

export interface Entry {
  readonly name: string;
  readonly kind: Kind;
  readonly uid: number;
  readonly mode: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly text?: string;
}

export interface Space {
  readonly totalBytes: number;
  /** For ordinary users. */
  readonly freeBytes: number;
  /** Zero where the file system has no fixed number. */
  readonly inodes: number;
  readonly freeInodes: number;
}

export interface Found extends Entry {
  /** The path that was looked at. */
  readonly path: string;
  /** Follows links: where the path leads in the end. */
  readonly realPath: string;
  /** Which file it is, on which device. */
  readonly dev: number;
  readonly ino: number;
  readonly entries?: readonly Entry[];
  readonly space?: Space;
}

/** What is there, or the system's error code, such as ENOENT or EACCES. */
export type Looked = { readonly found: Found } | { readonly fault: string };

/**
 * Looks in this process. Its source is also what the child runs, so it uses nothing of this file: neither imports nor
 * other functions.
 */
export function lookHere(what: Look): Looked {
  const fs = process.getBuiltinModule('node:fs');
  const entryOf = (name: string, path: string, follow: boolean): Entry => {
    const facts = follow ? fs.statSync(path) : fs.lstatSync(path);
    const kinds: [boolean, Kind][] = [
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
        return []; // it has gone meanwhile, or is another user's
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

const answerLimit = 8 * 1024 * 1024;

/** Looks in a child of its own; rejects when `signal` aborts, also where the child cannot be ended. */
export function lookApart(what: Look, signal: AbortSignal): Promise<Looked> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Looked>();
  const program = `process.stdout.write(JSON.stringify((${lookHere.toString()})(JSON.parse(process.argv[1]))))`;
  const child = spawn(process.execPath, ['-e', program, '--', JSON.stringify(what)], {
    env: {},
    cwd: '/',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const chunks: Buffer[] = [];
  let total = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    total += chunk.length;
    if (total <= answerLimit) chunks.push(chunk);
  });
  const giveUp = () => {
    child.kill('SIGKILL');
    child.stdout.destroy();
    child.unref();
    reject(signal.reason);
  };
  signal.addEventListener('abort', giveUp, { once: true });
  child.once('error', reject);
  child.once('close', (code) => {
    if (code === 0) resolve(readAnswer(Buffer.concat(chunks).toString('utf8'), what.path));
    else reject(new Error(`looking at ${what.path} failed`));
  });
  return promise.finally(() => signal.removeEventListener('abort', giveUp));
}

/** The child runs this file's own code. */
function readAnswer(text: string, path: string): Looked {
  const answer = tryParseRecord(text);
  if (answer !== undefined && isLooked(answer)) return answer;
  throw new Error(`looking at ${path} gave no answer`);
}

function isLooked(value: object): value is Looked {
  return 'found' in value || ('fault' in value && typeof value.fault === 'string');
}
