/**
 * Whether a text may be the beginning of a JSON document whose rest is not written yet: it is blank, or a bracket or a string
 * is open at its end. Invalid JSON may look so too; the result only means that it is worth waiting for more.
 */
export function isTruncatedJson(bytes: Uint8Array): boolean {
  let depth = 0;
  let isInString = false;
  let isEmpty = true;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (isInString) {
      if (byte === backslash) at += 1;
      else if (byte === quote) isInString = false;
      continue;
    }
    if (byte > blank) isEmpty = false;
    if (byte === quote) isInString = true;
    else if (byte === openBrace || byte === openBracket) depth += 1;
    else if (byte === closeBrace || byte === closeBracket) depth -= 1;
  }
  return isEmpty || isInString || depth > 0;
}

const [blank, quote, backslash] = [0x20, 0x22, 0x5c];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
