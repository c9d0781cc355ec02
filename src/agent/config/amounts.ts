import { billionths } from '../../api/index.ts';
import { scalarRule } from '../../api/schema/index.ts';
import type { Threshold } from '../node/index.ts';
import { shareOf } from '../node/index.ts';

/** What can be reserved. */
export const reservable = ['cpu', 'memory', 'ephemeral-storage', 'pid'] as const;

/** `10%` or `100Mi`; undefined where it is none of both, or below zero. 0 % and 100 % count for nothing: `off`. */
export function readThreshold(text: string): Threshold | 'off' | undefined {
  if (text.endsWith('%')) {
    const percent = /^\d{1,3}(?:\.\d{1,9})?%$/.test(text) ? Number(text.slice(0, -1)) : -1;
    if (percent < 0 || percent > 100) return undefined;
    return percent === 0 || percent === 100 ? 'off' : shareOf(percent);
  }
  const amount = readQuantity(text);
  return amount === undefined || amount <= 0 ? undefined : { amount };
}

/** A quantity as a number; undefined where it is none. */
export function readQuantity(text: string): number | undefined {
  const canonical = scalarRule('quantity').read(text);
  return typeof canonical === 'string' ? Number(billionths(canonical)) / 1e9 : undefined;
}
