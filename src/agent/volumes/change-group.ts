/** What a volume is to have. */
export interface GroupAccess {
  readonly group: number;
  /** Of a volume that is only read, the group gets no right to write. */
  readonly isReadOnly: boolean;
  /** Nothing is looked at below a root that fits already. */
  readonly isOnRootMismatch: boolean;
}

/**
 * Gives everything in the folder `base` to a group: files that it may read (and write), folders in which new files get the
 * group too. Owners and the rights of others stay; of links only the group is changed, and what is mounted inside is left
 * alone. Each part is opened by itself from the descriptor of the one before, without following links. Done again, it only
 * touches what does not fit. Calls `tell` now and then with the number of entries that it has looked at, and returns that.
 *
 * It reads nothing outside itself: it runs as the program of a child process, where the volume may hang.
 */
export function changeGroup(base: string, access: GroupAccess, tell: (count: number) => void): number {
  const fs = process.getBuiltinModule('node:fs');
  const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = fs.constants;
  const { group, isReadOnly, isOnRootMismatch } = access;
  const maxDepth = 900;
  const pathOnly = 0o10000000;
  const fileBits = isReadOnly ? 0o440 : 0o660;
  const folderBits = fileBits | 0o2110;
  let count = 0;
  const mountOf = (descriptor: number) =>
    /^mnt_id:\s*(\d+)$/m.exec(fs.readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1];
  const fits = (facts: { gid: number; mode: number }, bits: number) =>
    facts.gid === group && (facts.mode & bits) === bits;
  /** The change of a group takes setuid and setgid away: the mode is set after it. */
  const fit = (descriptor: number, bits: number) => {
    const facts = fs.fstatSync(descriptor);
    if (fits(facts, bits)) return;
    const path = `/proc/self/fd/${descriptor}`;
    if (facts.gid !== group) fs.chownSync(path, facts.uid, group);
    fs.chmodSync(path, (facts.mode & 0o7777) | bits);
  };
  const within = <T>(open: () => number, work: (descriptor: number) => T): T | undefined => {
    let descriptor: number;
    try {
      descriptor = open();
    } catch (error) {
      // it has gone meanwhile
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
    try {
      return work(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
  };
  const openAt = (parent: number, name: Buffer, flags: number) => () =>
    fs.openSync(Buffer.concat([Buffer.from(`/proc/self/fd/${parent}/`), name]), flags | O_NOFOLLOW);
  const visit = (parent: number, name: Buffer, mount: string | undefined, depth: number): void => {
    count += 1;
    if (count % 1000 === 0) tell(count);
    const isFolder = within(openAt(parent, name, pathOnly), (entry) => {
      const facts = fs.fstatSync(entry);
      if (mountOf(entry) !== mount) return false;
      if (facts.isSymbolicLink()) {
        const path = Buffer.concat([Buffer.from(`/proc/self/fd/${parent}/`), name]);
        if (facts.gid !== group) fs.lchownSync(path, facts.uid, group);
      } else if (!facts.isDirectory()) fit(entry, fileBits);
      return facts.isDirectory();
    });
    if (isFolder !== true) return;
    within(openAt(parent, name, O_RDONLY | O_DIRECTORY), (folder) => {
      if (mountOf(folder) === mount) visitAll(folder, mount, depth + 1);
    });
  };
  /** The folder itself last: one that fits is a sign that all in it does. */
  const visitAll = (folder: number, mount: string | undefined, depth: number): void => {
    if (depth > maxDepth) throw new Error(`folders lie more than ${maxDepth} deep in each other`);
    const entries = fs.opendirSync(`/proc/self/fd/${folder}`, { encoding: 'latin1' });
    try {
      for (let entry = entries.readSync(); entry !== null; entry = entries.readSync())
        visit(folder, Buffer.from(entry.name, 'latin1'), mount, depth);
    } finally {
      entries.closeSync();
    }
    fit(folder, folderBits);
  };
  const open = () => fs.openSync(base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  within(open, (root) => {
    if (isOnRootMismatch && fits(fs.fstatSync(root), folderBits)) return;
    visitAll(root, mountOf(root), 0);
  });
  return count;
}
