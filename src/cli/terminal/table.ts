import { sanitize } from './text.ts';

export interface TableOptions {
  /** Spaces between columns; default 3. */
  gap?: number;
}

/** One very long cell does not push the following columns of all other rows away. */
const maxColumnWidth = 60;

/** Aligned columns, the first row as the head. Cells are sanitized; a cell wider than its column overflows. */
export function formatTable(rows: readonly (readonly string[])[], { gap = 3 }: TableOptions = {}): string {
  const safe = rows.map((row) => row.map(sanitize));
  const widths = (safe[0] ?? []).map((_, column) =>
    Math.min(maxColumnWidth, Math.max(...safe.map((row) => row[column]?.length ?? 0))),
  );
  const separator = ' '.repeat(gap);
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(separator)
      .trimEnd();
  return safe.map((row) => `${line(row)}\n`).join('');
}
