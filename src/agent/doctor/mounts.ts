/** A line of /proc/self/mountinfo (proc_pid_mountinfo(5)). */
export interface Mount {
  readonly point: string;
  readonly type: string;
  readonly source: string;
  /** Those of the mount and those of its file system. */
  readonly options: ReadonlySet<string>;
}

/** In the order of mounting: a later mount at the same place hides the earlier one. */
export function parseMounts(mountinfo: string): Mount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [own = '', rest = ''] = line.split(' - ');
    const [, , , , point, options = ''] = own.split(' ');
    const [type = '', source = '', superOptions = ''] = rest.split(' ');
    if (point === undefined || type === '') return [];
    const all = new Set([...options.split(','), ...superOptions.split(',')]);
    return [{ point: decodeOctal(point), type, source: decodeOctal(source), options: all }];
  });
}

/** The mount that holds `path`, which must be free of links. */
export function findMount(mounts: readonly Mount[], path: string): Mount | undefined {
  const above = mounts.filter(
    ({ point }) => path === point || path.startsWith(point === '/' ? '/' : `${point}/`),
  );
  const longest = Math.max(0, ...above.map(({ point }) => point.length));
  return above.findLast(({ point }) => point.length === longest);
}

/** mountinfo writes blanks, tabs, newlines and backslashes in octal. */
function decodeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
