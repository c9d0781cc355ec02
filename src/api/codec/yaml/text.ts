/*
 * Formats strings in YAML. A string without quotes must be read as that string by every reader of YAML 1.1 or 1.2: none
 * may take it for a boolean, a null, a number, a time or a merge key. So the rule for plain strings is narrow: a string
 * that begins like a number or a time and has only characters of those is quoted, even when it is a version, an address
 * or an identifier.
 */

const plainText =
  /^(?:[\p{L}\d_/]|-{1,2}(?=[a-zA-Z])|\.(?=[a-zA-Z]))[\p{L}\p{M}\p{N} ._/@+$(),;=<>|&*!?%^~{}[\]'"\\:#-]*$/u;
/** Some readers take the last alternative for a number without digits. */
const word = /^(?:y|n|yes|no|on|off|true|false|null|\.inf|\.nan|e[-+]?[\d_.]+)$/i;
const numberLike = /^\d[\da-fA-FxXoObBtTzZ_.,:+\- ]*$/;

/** Whether a string needs no quotes. */
function isPlain(text: string): boolean {
  if (!plainText.test(text) || word.test(text) || numberLike.test(text)) return false;
  return !text.includes(': ') && !text.includes(' #') && !/[: ]$/.test(text);
}

/** Longer strings are quoted without a check. */
const maxPlainLength = 4096;

/** Formats a string as plain scalar, as literal block when it has lines and `indent` is given, or in double quotes. */
export function formatText(text: string, indent?: string): string {
  if (text.length <= maxPlainLength && isPlain(text)) return text;
  return indent !== undefined && isBlock(text) ? formatBlock(text, indent) : quoteText(text);
}

/** Only characters that every reader accepts unescaped. */
const printableText =
  /^[\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10fffd}]*$/u;

/** A literal block cannot keep blanks at the beginning; blanks at line ends would be invisible to people. */
function isBlock(text: string): boolean {
  return (
    text.includes('\n') &&
    /^\S/.test(text) &&
    !/[^\S\n]\n|[^\S\n]$|\n\n$/.test(text) &&
    printableText.test(text)
  );
}

function formatBlock(text: string, indent: string): string {
  const ends = text.endsWith('\n');
  const lines = (ends ? text.slice(0, -1) : text).split('\n');
  const indented = lines.map((line) => (line === '' ? '' : indent + line));
  return `|${ends ? '' : '-'}\n${indented.join('\n')}`;
}

/**
 * A JSON string, with the characters escaped too that JSON allows and YAML does not. A lone surrogate, which JSON can
 * have, is replaced as in every other encoding: most readers would refuse the whole document for it.
 */
function quoteText(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
