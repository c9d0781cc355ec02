import { backslash, quote, skipValue, unusual } from '../../../json/index.ts';
import type { Conversion } from './conversion.ts';
import { closeLength, openLength, writeBytesAsTheyAre } from './conversion.ts';

/** Copies a text with its length before it. */
export function copyText(conversion: Conversion): void {
  const { json, bytes, at: start } = conversion;
  if (json[start] !== quote) throw unusual(conversion);
  const lengthAt = openLength(conversion);
  let { end } = conversion;
  for (let at = start + 1; ; at++) {
    const byte = json[at];
    if (byte === undefined) throw unusual(conversion);
    if (byte === backslash) break;
    if (byte === quote) {
      conversion.at = at + 1;
      conversion.end = end;
      closeLength(conversion, lengthAt);
      return;
    }
    bytes[end++] = byte;
  }
  writeBytesAsTheyAre(conversion, Buffer.from(takeText(conversion)));
  closeLength(conversion, lengthAt);
}

/** Reads a text, whatever escapes are in it. */
function takeText(conversion: Conversion): string {
  const value = takeValue(conversion);
  if (typeof value !== 'string') throw unusual(conversion);
  return value;
}

/** Reads any value by parsing it. */
export function takeValue(conversion: Conversion): unknown {
  const start = skipValue(conversion);
  const text = conversion.json.subarray(start, conversion.at);
  try {
    return JSON.parse(utf8.decode(text));
  } catch {
    throw unusual(conversion);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
