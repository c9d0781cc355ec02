import type { Verdict } from './types.ts';

/** Verdicts with the same word say the same of a file; when they were made is none of it. */
export function verdictWord(verdict: Verdict | undefined): string {
  if (verdict === undefined) return '';
  if ('digest' in verdict) return `${verdict.kind} ${verdict.digest}`;
  return verdict.kind === 'unreadable' ? `unreadable ${verdict.reason}` : verdict.kind;
}
