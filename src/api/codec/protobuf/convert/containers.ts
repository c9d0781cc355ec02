import {
  closeList,
  closeObject,
  colon,
  comma,
  openList,
  openObject,
  quote,
  takeByte,
  unusual,
} from '../../../json/index.ts';
import type { Ordering } from './arrange.ts';
import { arrange } from './arrange.ts';
import type { Conversion } from './conversion.ts';
import { closeLength, openLength, sizeOfVarint, writeVarint } from './conversion.ts';
import type { CopyValue } from './scalars.ts';
import { copyText } from './texts.ts';

/** Copies a value with its tag. */
export function tagged(tag: number, copy: CopyValue): CopyValue {
  return (conversion) => {
    writeVarint(conversion, tag);
    copy(conversion);
  };
}

/** Copies a value with its tag, and the length before it. */
export function delimited(tag: number, copy: CopyValue): CopyValue {
  return (conversion) => {
    writeVarint(conversion, tag);
    const lengthAt = openLength(conversion);
    copy(conversion);
    closeLength(conversion, lengthAt);
  };
}

/** Copies each item, with its tag. */
export function listCopier(copyItem: CopyValue): CopyValue {
  return (conversion) => {
    takeByte(conversion, openList);
    if (conversion.json[conversion.at] === closeList) {
      conversion.at++;
      return;
    }
    for (;;) {
      copyItem(conversion);
      const byte = conversion.json[conversion.at++];
      if (byte === closeList) return;
      if (byte !== comma) throw unusual(conversion);
    }
  };
}

/** Copies the entries, in the order of the bytes of their keys. */
export function mapCopier(tag: number, copyEntryValue: CopyValue): CopyValue {
  return (conversion) => {
    const { json, parts } = conversion;
    const first = parts.count;
    takeByte(conversion, openObject);
    if (json[conversion.at] === closeObject) {
      conversion.at++;
      return;
    }
    let isSorted = true;
    for (let before = -1; ; ) {
      const key = conversion.at;
      parts.add(key, conversion.end);
      copyEntry(conversion, tag, copyEntryValue);
      isSorted &&= before < 0 || compareKeys(conversion, before, key) < 0;
      before = key;
      const byte = json[conversion.at++];
      if (byte === closeObject) break;
      if (byte !== comma) throw unusual(conversion);
    }
    if (!isSorted) arrange(conversion, first, byKey);
    parts.count = first;
  };
}

/** The order of entries: where their keys stand in the JSON. */
const byKey: Ordering = { compare: compareKeys, withinOf: () => 0 };

/** An entry is the message {1: key, 2: value}. */
function copyEntry(conversion: Conversion, tag: number, copyEntryValue: CopyValue): void {
  writeVarint(conversion, tag);
  const lengthAt = openLength(conversion);
  writeVarint(conversion, 0x0a);
  const { at, end } = conversion;
  copyText(conversion);
  const length = conversion.at - at - '""'.length;
  const hasEscapes = conversion.end - end !== length + sizeOfVarint(length);
  if (hasEscapes) throw unusual(conversion); // its bytes in JSON are not in the order of the key
  takeByte(conversion, colon);
  copyEntryValue(conversion);
  closeLength(conversion, lengthAt);
}

/** Compares the keys that stand at two places of the JSON, by their bytes. */
function compareKeys({ json }: Conversion, one: number, other: number): number {
  for (let offset = 1; ; offset++) {
    const left = json[one + offset] ?? quote;
    const right = json[other + offset] ?? quote;
    if (left === right && left !== quote) continue;
    if (left === right) return 0;
    return left === quote ? -1 : right === quote ? 1 : left - right;
  }
}
