import type { Amounts } from '../../../api/index.ts';
import { billionths, formatBillionths, formatBinary } from '../../../api/index.ts';

const one = 1_000_000_000n;

/** Quantities as billionths, by the name of the resource. */
export function amountsOf(quantities: Readonly<Record<string, string>> = {}): Map<string, bigint> {
  return new Map(Object.entries(quantities).map(([name, text]) => [name, billionths(text)]));
}

/** Bytes with a binary suffix where they are whole Ki, everything else with a decimal one. */
export function formatAmount(name: string, amount: bigint): string {
  const isWholeKi = amount % (one * 1024n) === 0n;
  return isBytes(name) && isWholeKi ? formatBinary(amount / one) : formatBillionths(amount);
}

function isBytes(name: string): boolean {
  return /(?:memory|storage|hugepages-[^/]+)$/.test(name);
}

export function quantitiesOf(amounts: Amounts): Record<string, string> {
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, formatAmount(name, amount)]));
}
