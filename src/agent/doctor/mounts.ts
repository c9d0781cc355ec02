/** A line of /proc/self/mountinfo (proc_pid_mountinfo(5)). */
export interface Mount {
  readonly point: string;
  readonly type: string;
  readonly source: string;
  /** Of the mount and of its file system. */
  readonly options: ReadonlySet<string>;
}

/** In the order in which they were made: a later one at the same place hides the earlier. */
export function parseMounts(mountinfo: string): Mount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [own = '', rest = ''] = line.split(' - ');
    const [, , , , point, options = ''] = own.split(' ');
    const [type = '', source = '', superOptions = ''] = rest.split(' ');
    if (point === undefined || type === '') return [];
    const all = new Set([...options.split(','), ...superOptions.split(',')]);
    return [{ point: unescaped(point), type, source: unescaped(source), options: all }];
  });
}

/** The mount that a path without links is on. */
export function mountOf(mounts: readonly Mount[], path: string): Mount | undefined {
  const above = mounts.filter(
    ({ point }) => path === point || path.startsWith(point === '/' ? '/' : `${point}/`),
  );
  const longest = Math.max(0, ...above.map(({ point }) => point.length));
  return above.findLast(({ point }) => point.length === longest);
}

/** Blanks, tabs, newlines and backslashes stand there in octal. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
