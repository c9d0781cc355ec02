/*
 * Texts in the order of their UTF-8 bytes, in which the reference has them. It is that of UTF-16 units, but for
 * characters that need two of those.
 */

const surrogate = /[\ud800-\udfff]/;

/** The same texts, in order. */
export function sortedTexts(texts: readonly string[]): string[] {
  const isExact = texts.some((text) => surrogate.test(text));
  return isExact ? texts.toSorted(compareUnits) : texts.toSorted();
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

/** Halves of characters come behind all others. */
function rank(unit: number): number {
  return unit < 0xd800 || unit > 0xdfff ? unit : unit + 0x10000;
}
