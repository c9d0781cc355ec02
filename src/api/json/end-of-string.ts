const backslash = 0x5c;
const quote = 0x22;
/** Most strings are shorter, and searching so short a string character by character is faster. */
const shortLength = 48;

/** The offset of the quote that ends the string beginning at `start`; negative when the string does not end. */
export function findStringEnd(text: string, start: number): number {
  const near = Math.min(text.length, start + shortLength);
  let at = start + 1;
  for (; at < near; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code === backslash) at++;
  }
  let end = text.indexOf('"', at);
  while (end >= 0 && isEscaped(text, end, start)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, at: number, start: number): boolean {
  let slashes = 0;
  while (at - 1 - slashes > start && text.charCodeAt(at - 1 - slashes) === backslash) slashes++;
  return slashes % 2 === 1;
}
