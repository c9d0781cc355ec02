/*
 * Strings in YAML. What stands without quotes must be read as that string by everybody: no reader of YAML 1.1 or 1.2
 * may take it for a boolean, a null, a number, a time or a merge key. So the rule is narrow, and looks at what a string
 * could be taken for rather than at what it is: whatever begins as numbers and times do and holds nothing but what they
 * hold is quoted, be it a version, an address or an identifier.
 */

const plainText =
  /^(?:[\p{L}\d_/]|-{1,2}(?=[a-zA-Z])|\.(?=[a-zA-Z]))[\p{L}\p{M}\p{N} ._/@+$(),;=<>|&*!?%^~{}[\]'"\\:#-]*$/u;
/** The last one some readers take for a number that lacks its digits. */
const word = /^(?:y|n|yes|no|on|off|true|false|null|\.inf|\.nan|e[-+]?[\d_.]+)$/i;
const numberLike = /^\d[\da-fA-FxXoObBtTzZ_.,:+\- ]*$/;

/** Whether a string can stand by itself. */
function isPlain(text: string): boolean {
  if (!plainText.test(text) || word.test(text) || numberLike.test(text)) return false;
  return !text.includes(': ') && !text.includes(' #') && !/[: ]$/.test(text);
}

/** Longer ones are not looked at for the sake of quotes alone. */
const maxPlainLength = 4096;

/** A string as a scalar: plain, as a literal block when it has lines and an indent is given, or in double quotes. */
export function yamlText(text: string, indent?: string): string {
  if (text.length <= maxPlainLength && isPlain(text)) return text;
  return indent !== undefined && isBlock(text) ? blockText(text, indent) : quoted(text);
}

/** Characters that every reader takes as they are. */
const printableText =
  /^[\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10fffd}]*$/u;

/** A literal block keeps everything but blanks at the beginning, and at the ends of lines for people's eyes. */
function isBlock(text: string): boolean {
  return (
    text.includes('\n') &&
    /^\S/.test(text) &&
    !/[^\S\n]\n|[^\S\n]$|\n\n$/.test(text) &&
    printableText.test(text)
  );
}

function blockText(text: string, indent: string): string {
  const ends = text.endsWith('\n');
  const lines = (ends ? text.slice(0, -1) : text).split('\n');
  const indented = lines.map((line) => (line === '' ? '' : indent + line));
  return `|${ends ? '' : '-'}\n${indented.join('\n')}`;
}

/**
 * JSON's string, with what JSON leaves unescaped and YAML does not allow. Half a character, which JSON can hold, is
 * replaced as in every other encoding: most readers would refuse the whole document for it.
 */
function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
