import type { Row, Verdict } from '../agent/index.ts';
import { harmless } from './access/report.ts';

/** How many rows have each verdict. */
export function countVerdicts(rows: readonly Row[]): Partial<Record<Verdict, number>> {
  const counts: Partial<Record<Verdict, number>> = {};
  for (const { verdict } of rows) counts[verdict] = (counts[verdict] ?? 0) + 1;
  return counts;
}

/**
 * The rows by topic, a line each, with what is needed and what to do below those that are not as they should be. What
 * is found may be quoted from elsewhere: characters that a terminal would obey are shown as a question mark.
 */
export function reportText(rows: readonly Row[]): string {
  const widths = [
    Math.max(...rows.map(({ verdict }) => verdict.length)),
    Math.max(...rows.map(({ id }) => id.length)),
  ] as const;
  const topics = [...new Set(rows.map(({ topic }) => topic))];
  const parts = topics.map((topic) => {
    const lines = rows.filter((row) => row.topic === topic).flatMap((row) => rowLines(row, widths));
    return `${topic.toUpperCase()}\n${lines.map((line) => `  ${line}\n`).join('')}`;
  });
  return `${parts.join('\n')}\n${summary(rows)}\n`;
}

function rowLines(row: Row, [verdicts, ids]: readonly [number, number]): string[] {
  const { verdict, id, found, title, needed, advice } = row;
  const indent = ' '.repeat(verdicts + ids + 4);
  const first = `${verdict.padEnd(verdicts)}  ${id.padEnd(ids)}  ${title}: ${harmless(found)}`;
  if (verdict === 'ok' || verdict === 'not-applicable') return [first];
  const more = [`needed: ${needed}`, ...(advice === undefined ? [] : [`to do: ${harmless(advice)}`])];
  return [first, ...more.map((line) => `${indent}${line}`)];
}

function summary(rows: readonly Row[]): string {
  const counts = Object.entries(countVerdicts(rows)).map(([verdict, count]) => `${count} ${verdict}`);
  return `${rows.length} checks: ${counts.join(', ')}`;
}
