import { relative } from 'node:path';
import type { FileResult } from './guarded-run.ts';

const maxListed = 10;
/** Faster ones are not worth a look. */
const minSeconds = 1;

/** The files that took longest, as lines for people; empty when none took long. */
export function slowestFiles(results: readonly FileResult[], root: string): string {
  const slow = results
    .filter(({ file, seconds }) => file !== undefined && seconds >= minSeconds)
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, maxListed);
  if (slow.length === 0) return '';
  const lines = slow.map(
    ({ file = '', seconds }) => `${seconds.toFixed(1).padStart(8)} s  ${relative(root, file)}\n`,
  );
  return `── the slowest files\n${lines.join('')}`;
}
