/** A file or folder that a descriptor of the process `pid` stands for, until that closes it. */
export interface Reached {
  readonly pid: number;
  readonly descriptor: number;
  readonly isFolder: boolean;
}

/**
 * Goes from the folder `base` down a path that the owner of a volume chose, and returns a descriptor (O_PATH) of its end; the
 * caller closes it. Folders that are missing are made, with the mode of `base`, unless `makesMissing` is false. Each part is opened by itself, from the
 * descriptor of the one before, without following links; a link is read and walked in the same way, and one that leads out of
 * `base` is refused. So whatever is exchanged meanwhile, the end is something that was inside. Throws an Error.
 *
 * It reads nothing outside itself: it also runs as the program of a child process, where the volume may hang.
 */
export function descend(base: string, path: string, makesMissing = true): Omit<Reached, 'pid'> {
  const fs = process.getBuiltinModule('node:fs');
  const maxLinks = 40;
  const maxParts = 1000;
  const pathOnly = 0o10000000;
  const { O_DIRECTORY, O_NOFOLLOW } = fs.constants;
  const at = (parent: number, name: string) => `/proc/self/fd/${parent}/${name}`;
  const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT';
  const root = fs.openSync(base, pathOnly | O_DIRECTORY);
  const { mode } = fs.fstatSync(root);
  /** The descriptors from the root to where it stands now; all but the last are folders. */
  const way = [root];
  const rest = path.split('/');
  let links = 0;
  const openOrMake = (parent: number, name: string): number => {
    try {
      return fs.openSync(at(parent, name), pathOnly | O_NOFOLLOW);
    } catch (error) {
      if (!makesMissing || !isMissing(error)) throw error;
    }
    fs.mkdirSync(at(parent, name), { mode: mode & 0o7777 });
    const made = fs.openSync(at(parent, name), pathOnly | O_NOFOLLOW | O_DIRECTORY);
    fs.chmodSync(`/proc/self/fd/${made}`, mode & 0o7777);
    return made;
  };
  const follow = (target: string): void => {
    links += 1;
    if (links > maxLinks) throw new Error('too many symbolic links');
    const isOfRoot = target === base || target.startsWith(`${base}/`);
    if (target.startsWith('/') && !isOfRoot) throw new Error('a symbolic link leads out of the volume');
    if (isOfRoot) for (const each of way.splice(1)) fs.closeSync(each);
    rest.unshift(...(isOfRoot ? target.slice(base.length) : target).split('/'));
    if (rest.length > maxParts) throw new Error('the path is too long');
  };
  try {
    while (rest.length > 0) {
      const name = rest.shift() ?? '';
      const parent = way.at(-1) ?? root;
      if (name === '' || name === '.') continue;
      if (name === '..') {
        if (way.length === 1) throw new Error('the path leads out of the volume');
        fs.closeSync(way.pop() ?? root);
        continue;
      }
      const next = openOrMake(parent, name);
      way.push(next);
      const facts = fs.fstatSync(next);
      if (facts.isSymbolicLink()) {
        fs.closeSync(way.pop() ?? next);
        follow(fs.readlinkSync(at(parent, name)));
      } else if (!facts.isDirectory() && rest.some((each) => each !== '')) {
        throw new Error('a part of the path is not a folder');
      }
    }
    const descriptor = way.pop() ?? root;
    return { descriptor, isFolder: fs.fstatSync(descriptor).isDirectory() };
  } finally {
    for (const each of way) fs.closeSync(each);
  }
}
