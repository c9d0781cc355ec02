import type { Paint, Tone } from './colour.ts';
import { withoutColour } from './colour.ts';
import { sanitize } from './text.ts';

export interface TableOptions {
  /** Spaces between columns; default 3. */
  gap?: number;
  /** Default: without colour. */
  paint?: Paint;
}

/** A text, or a text with its tone. */
export type Cell = string | { readonly text: string; readonly tone: Tone | undefined };

/** One very long cell does not push the following columns of all other rows away. */
const maxColumnWidth = 60;

/** Aligned columns, the first row as the head. Cells are sanitized; a cell wider than its column overflows. */
export function formatTable(
  rows: readonly (readonly Cell[])[],
  { gap = 3, paint = withoutColour }: TableOptions = {},
): string {
  const safe = rows.map((row) => row.map(toSafeCell));
  const widths = (safe[0] ?? []).map((_, column) =>
    Math.min(maxColumnWidth, Math.max(...safe.map((row) => row[column]?.text.length ?? 0))),
  );
  const separator = ' '.repeat(gap);
  const line = (row: readonly ReturnType<typeof toSafeCell>[]) =>
    row
      .map(({ text, tone }, column) => paint(text, tone) + ' '.repeat(missing(text, widths[column])))
      .join(separator)
      .trimEnd();
  return safe.map((row) => `${line(row)}\n`).join('');
}

function toSafeCell(cell: Cell): { text: string; tone: Tone | undefined } {
  const { text, tone } = typeof cell === 'string' ? { text: cell, tone: undefined } : cell;
  return { text: sanitize(text), tone };
}

const missing = (text: string, width = 0): number => Math.max(0, width - text.length);
