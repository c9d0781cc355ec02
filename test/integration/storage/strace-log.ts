import { basename } from 'node:path';

/** What a process did to a file of one folder, in the order in which it was done. */
export type DiskCall =
  | { readonly what: 'create'; readonly name: string }
  | { readonly what: 'write'; readonly name: string; readonly at: number | 'end'; readonly bytes: Buffer }
  | { readonly what: 'truncate'; readonly name: string; readonly size: number }
  | { readonly what: 'sync'; readonly name: string }
  | { readonly what: 'unlink'; readonly name: string }
  | { readonly what: 'rename'; readonly name: string; readonly to: string }
  | { readonly what: 'link'; readonly name: string; readonly to: string };

/** The system calls to be recorded; of other files strace tells nothing when their paths are given. */
export const recordedCalls =
  'openat,pwrite64,pwritev,write,writev,ftruncate,fallocate,fsync,fdatasync,unlink,unlinkat,rename,renameat,renameat2,link,linkat';

/** Reads what `strace -f -y -xx` wrote. Throws on a call that it does not know: the model would miss it. */
export function* parseStrace(lines: Iterable<string>): Generator<DiskCall> {
  const unfinished = new Map<string, string>();
  for (const line of lines) {
    const [, pid = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (rest.endsWith('<unfinished ...>')) {
      unfinished.set(pid, rest.slice(0, -'<unfinished ...>'.length));
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    const call = resumed === null ? rest : `${unfinished.get(pid) ?? ''}${resumed[1]}`;
    const found = parseCall(call);
    if (found !== undefined) yield found;
  }
}

function parseCall(call: string): DiskCall | undefined {
  const [, name = '', args = '', result = ''] = /^(\w+)\((.*)\) += (-?\d+)/.exec(call) ?? [];
  if (name === '' || result.startsWith('-')) return undefined; // signals, exits, and what had no effect
  const [first = '', ...others] = args.split(', ');
  const file = basename(unhex(/<(.*)>/.exec(first)?.[1] ?? ''));
  switch (name) {
    case 'openat':
      return others[1]?.includes('O_CREAT') ? { what: 'create', name: named(others[0]) } : undefined;
    case 'pwrite64':
      return { what: 'write', name: file, at: Number(others[2]), bytes: bytesOf(others[0], result) };
    case 'write':
      return { what: 'write', name: file, at: 'end', bytes: bytesOf(others[0], result) };
    case 'ftruncate':
      return { what: 'truncate', name: file, size: Number(others[0]) };
    case 'fsync':
    case 'fdatasync':
      return { what: 'sync', name: file };
    case 'unlink':
      return { what: 'unlink', name: named(first) };
    case 'rename':
    case 'link':
      return { what: name, name: named(first), to: named(others[0]) };
    case 'linkat':
      return { what: 'link', name: named(others[0]), to: named(others[2]) };
    default:
      throw new Error(`a call of ${name} is not part of the model: ${call.slice(0, 200)}`);
  }
}

function bytesOf(text: string | undefined, written: string): Buffer {
  const bytes = Buffer.from(hexOf(text), 'hex');
  if (bytes.length < Number(written)) throw new Error('a write was recorded in part');
  return bytes.subarray(0, Number(written));
}

/** The last part of a path that is an argument. */
function named(text: string | undefined): string {
  return basename(Buffer.from(hexOf(text), 'hex').toString());
}

function hexOf(text = ''): string {
  return text.replaceAll(/["]|\\x/g, '');
}

function unhex(text: string): string {
  return text.includes('\\x') ? Buffer.from(hexOf(text), 'hex').toString() : text;
}
