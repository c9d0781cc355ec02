import type { Architecture } from './architectures.ts';
import { architectures } from './architectures.ts';

/** The system calls that exist, by architecture. */
export interface SyscallTable {
  /** The package that the table was generated from, such as `linux-libc-dev 7.2.13-1`. */
  readonly source: string;
  /** The calls of all architectures. */
  readonly names: readonly string[];
  has(name: string): boolean;
  /** Undefined when the architecture has no such call, or its table is not known. */
  numberOf(name: string, architecture: Architecture): number | undefined;
  hasTableOf(architecture: Architecture): boolean;
}

/** Loads the table on demand: only a small part of the commands need it. */
export async function loadSyscallTable(): Promise<SyscallTable> {
  const { syscallColumns, syscallRows, syscallSource } = await import('./gen/syscall-numbers.ts');
  const columns = syscallColumns.split(' ');
  const rows = new Map(syscallRows.trim().split('\n').map(parseRow));
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

/** A row has a name and a cell for each column: a number, `=` for the number of the column before, or `-` for none. */
function parseRow(row: string): [string, readonly (number | undefined)[]] {
  const [name = '', ...cells] = row.split(' ');
  let last: number | undefined;
  const numbers = cells.map((cell) => {
    if (cell !== '=') last = cell === '-' ? undefined : Number(cell);
    return last;
  });
  return [name, numbers];
}
