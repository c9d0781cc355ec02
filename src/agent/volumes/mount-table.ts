import { readFileSync } from 'node:fs';

/** A mount of this process's namespace. */
export interface MountEntry {
  readonly id: number;
  readonly path: string;
  /** Such as `tmpfs`. */
  readonly type: string;
}

/**
 * What is mounted, in the order of the table: of two at the same path the later one is on top. It comes from the memory of the
 * kernel and never waits for a file system, however broken.
 */
export function readMountTable(): MountEntry[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  return lines.flatMap((line) => {
    const entry = parseMountLine(line);
    return entry === undefined ? [] : [entry];
  });
}

/** A line of mountinfo; undefined for what is none. */
export function parseMountLine(line: string): MountEntry | undefined {
  const fields = line.split(' ');
  const [id = '', , , , path = ''] = fields;
  const type = fields[fields.indexOf('-', 6) + 1] ?? '';
  if (!/^\d+$/.test(id) || !path.startsWith('/')) return undefined;
  return { id: Number(id), path: unescapePath(path), type };
}

/** Blanks and such stand as `\040` in the table. */
function unescapePath(text: string): string {
  if (!text.includes('\\')) return text;
  const bytes = Buffer.from(text, 'utf8').toString('latin1');
  const plain = bytes.replaceAll(/\\(\d{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
  return Buffer.from(plain, 'latin1').toString('utf8');
}

/** Those at the folder and below it, in the order in which they can be unmounted. */
export function mountsIn(folder: string, table: readonly MountEntry[] = readMountTable()): MountEntry[] {
  const inside = table.filter(({ path }) => path === folder || path.startsWith(`${folder}/`));
  const depthOf = ({ path }: MountEntry) => path.split('/').length;
  return inside.reverse().sort((a, b) => depthOf(b) - depthOf(a)); // the sort keeps the later ones first
}
