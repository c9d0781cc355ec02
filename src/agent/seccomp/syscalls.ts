import type { Architecture } from './architectures.ts';
import { architectures } from './architectures.ts';

/** Which system calls there are. */
export interface SyscallTable {
  /** Where it is from, such as `linux-libc-dev 7.2.13-1`. */
  readonly source: string;
  /** Of any architecture. */
  readonly names: readonly string[];
  has(name: string): boolean;
  /** Undefined where that architecture has no such call, or no table of it is known. */
  numberOf(name: string, architecture: Architecture): number | undefined;
  hasTableOf(architecture: Architecture): boolean;
}

/** Loads the table, which few processes need. */
export async function loadSyscallTable(): Promise<SyscallTable> {
  const { syscallColumns, syscallRows, syscallSource } = await import('./gen/syscall-numbers.ts');
  const columns = syscallColumns.split(' ');
  const rows = new Map(syscallRows.trim().split('\n').map(readRow));
  const columnOf = (architecture: Architecture) => {
    const { column } = architectures.get(architecture) ?? {};
    return column === undefined ? -1 : columns.indexOf(column);
  };
  return {
    source: syscallSource,
    names: [...rows.keys()],
    has: (name) => rows.has(name),
    numberOf: (name, architecture) => rows.get(name)?.[columnOf(architecture)],
    hasTableOf: (architecture) => columnOf(architecture) >= 0,
  };
}

/** A name and a cell for each column: a number, `=` for that of the column before, or `-`. */
function readRow(row: string): [string, readonly (number | undefined)[]] {
  const [name = '', ...cells] = row.split(' ');
  let last: number | undefined;
  const numbers = cells.map((cell) => {
    if (cell !== '=') last = cell === '-' ? undefined : Number(cell);
    return last;
  });
  return [name, numbers];
}
