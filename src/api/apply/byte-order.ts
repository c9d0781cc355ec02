/*
 * Sorts strings by their UTF-8 bytes, as the reference does. The order differs from that of UTF-16 code units only for
 * characters that take two units.
 */

const surrogate = /[\ud800-\udfff]/;

export function sortTexts(texts: readonly string[]): string[] {
  const hasSurrogates = texts.some((text) => surrogate.test(text));
  return hasSurrogates ? texts.toSorted(compareUnits) : texts.toSorted();
}

export function compareText(a = '', b = ''): number {
  return surrogate.test(a) || surrogate.test(b) ? compareUnits(a, b) : a < b ? -1 : Number(a > b);
}

function compareUnits(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index++) {
    const order = rank(a.charCodeAt(index)) - rank(b.charCodeAt(index));
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Surrogates sort after all other units. */
function rank(unit: number): number {
  return unit < 0xd800 || unit > 0xdfff ? unit : unit + 0x10000;
}
