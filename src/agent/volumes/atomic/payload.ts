import { posix } from 'node:path';

/** One file that a volume shows. */
export interface FileContent {
  readonly bytes: Buffer;
  readonly mode: number;
  /** Who owns it; default: root. */
  readonly uid?: number | undefined;
}

/** By path in the volume. */
export type Payload = ReadonlyMap<string, FileContent>;

/** The same as folders; names as `Folder` takes them: each character stands for one byte. */
export interface Tree {
  readonly files: ReadonlyMap<string, FileContent>;
  readonly folders: ReadonlyMap<string, Tree>;
}

const maxPathBytes = 4096;
const maxNameBytes = 255;
/** A descriptor is open for each folder on the way to a file. */
const maxFolders = 100;

/** Throws an Error, in the words of the reference, for a path that cannot be in a volume. */
export function toTree(payload: Payload): Tree {
  const root: MutableTree = { files: new Map(), folders: new Map() };
  for (const [path, content] of payload) {
    const fault = findPathFault(path);
    if (fault !== undefined) throw new Error(`invalid path: ${fault}`);
    add(root, path, content);
  }
  return root;
}

interface MutableTree extends Tree {
  readonly files: Map<string, FileContent>;
  readonly folders: Map<string, MutableTree>;
}

function add(root: MutableTree, path: string, content: FileContent): void {
  const names = toBytes(posix.normalize(path))
    .split('/')
    .filter((name) => name !== '' && name !== '.');
  const last = names.pop();
  if (last === undefined) throw new Error(`invalid path: must name a file: ${path}`);
  let tree = root;
  for (const name of names) {
    const folder: MutableTree = tree.folders.get(name) ?? { files: new Map(), folders: new Map() };
    if (tree.files.has(name)) throw isBoth(path);
    tree.folders.set(name, folder);
    tree = folder;
  }
  if (tree.folders.has(last)) throw isBoth(path);
  tree.files.set(last, content);
}

const isBoth = (path: string) =>
  new Error(`invalid path: a part of it would be a file and a folder at once: ${path}`);

function findPathFault(path: string): string | undefined {
  if (path === '') return 'must not be empty: ""';
  if (path.startsWith('/')) return `must be relative path: ${path}`;
  if (Buffer.byteLength(path) > maxPathBytes)
    return `must be less than or equal to ${maxPathBytes} characters`;
  const names = path.split('/');
  if (names.includes('..')) return `must not contain '..': ${path}`;
  if (names.some((name) => Buffer.byteLength(name) > maxNameBytes))
    return `filenames must be less than or equal to ${maxNameBytes} characters`;
  if (names.length > maxFolders + 1) return `must not have more than ${maxFolders} folders in each other`;
  if (path.startsWith('..')) return `must not start with '..': ${path}`;
  return path.includes('\0') ? 'must not contain a zero byte' : undefined;
}

function toBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
