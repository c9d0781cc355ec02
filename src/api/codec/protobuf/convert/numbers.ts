import { closeList, closeObject, comma, digitZero } from '../../../json/index.ts';
import type { Conversion } from './conversion.ts';

/** No more, so that it is exact. */
const maxDigits = 15;

/** Reads an integer of at least 0; -1, with nothing read, where there is any other value. */
export function takeInteger(conversion: Conversion): number {
  const { json, at: start } = conversion;
  let value = 0;
  let at = start;
  for (; ; at++) {
    const digit = (json[at] ?? 0) - digitZero;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  if (at === start || at - start > maxDigits || !endsValue(json[at])) return -1;
  conversion.at = at;
  return value;
}

/** Reads so many digits at an offset from `at`; NaN where there is anything else. */
export function digitsAt({ json, at }: Conversion, offset: number, count: number): number {
  let value = 0;
  for (let place = at + offset; place < at + offset + count; place++) {
    const digit = (json[place] ?? 0) - digitZero;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

function endsValue(byte: number | undefined): boolean {
  return byte === comma || byte === closeObject || byte === closeList;
}
