import { readFile } from 'node:fs/promises';
import { runCommand } from './command.ts';

export interface MountPoint {
  readonly path: string;
  /** The file system: `overlay`, `cgroup2` … */
  readonly type: string;
}

/** What is mounted where this process sees it, in the order in which it was mounted. */
export async function mountPoints(): Promise<MountPoint[]> {
  const lines = (await readFile('/proc/self/mounts', 'utf8')).trim().split('\n');
  return lines.map((line) => {
    const [, path = '', type = ''] = line.split(' ');
    return { path: unescapeOctal(path), type };
  });
}

/** Blanks and such stand as `\040` in the table. */
function unescapeOctal(text: string): string {
  return text.replaceAll(/\\(\d{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

/** Unmounts everything below a folder, the last mounted first, and returns what that was. */
export async function unmountBelow(folder: string): Promise<string[]> {
  const below = (await mountPoints()).map(({ path }) => path).filter((path) => path.startsWith(`${folder}/`));
  for (const path of below.toReversed()) {
    const plain = await runCommand('umount', [path]);
    if (plain.code !== 0) await runCommand('umount', ['--lazy', path]);
  }
  return below;
}
