import type { OriginRow } from '../agent/index.ts';

const heads = ['FIELD', 'VALUE', 'FROM', 'OVERRODE'] as const;
const longestValue = 60;

/** The origins in columns, for people. */
export function originTableText(rows: readonly OriginRow[]): string {
  const lines = rows.map(({ field, value, origin, overrode }) => [
    field,
    value === undefined ? '(removed)' : valueText(value),
    origin,
    overrode.map((stated) => `${valueText(stated.value)} (${stated.origin})`).join(', '),
  ]);
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...lines.map((line) => line[column]?.length ?? 0)),
  );
  return [[...heads], ...lines]
    .map(
      (line) =>
        `${line
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** In a line, with nothing in it that a terminal would obey. */
function valueText(value: unknown): string {
  const text = typeof value === 'string' && /^[\w./:%=+-]+$/.test(value) ? value : JSON.stringify(value);
  const safe = text.replace(/[\u007f-\u009f\u2028\u2029]/g, '�');
  return safe.length <= longestValue ? safe : `${safe.slice(0, longestValue - 1)}…`;
}
