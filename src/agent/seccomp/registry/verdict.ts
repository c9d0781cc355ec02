import type { Verdict } from './types.ts';

/** Verdicts with equal keys say the same of a file; when they were made does not matter. */
export function verdictKey(verdict: Verdict | undefined): string {
  if (verdict === undefined) return '';
  if ('digest' in verdict) return `${verdict.kind} ${verdict.digest}`;
  return verdict.kind === 'unreadable' ? `unreadable ${verdict.reason}` : verdict.kind;
}
