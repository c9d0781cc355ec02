import type { Findings, StructType } from '../../../../src/api/schema/index.ts';
import { checkerOf } from '../../../../src/api/schema/index.ts';

/** What the strict walker keeps of a value and what it finds. */
export function walk(type: StructType, value: unknown): Findings & { kept: unknown } {
  const findings: Findings = { unknown: [], wrong: [] };
  const kept = checkerOf(type)(value, undefined, findings);
  return { kept, ...findings };
}
