/** The position of a value in a document (RFC 6901): names and indexes from the root. */
export interface Pointer {
  text: string;
  tokens: readonly string[];
}

/** Undefined when the text is not a pointer. */
export function parsePointer(text: string): Pointer | undefined {
  if (text === '') return { text, tokens: [] };
  if (!text.startsWith('/') || /~(?![01])/.test(text)) return undefined;
  return { text, tokens: text.slice(1).split('/').map(unescapeToken) };
}

function unescapeToken(token: string): string {
  return token.includes('~') ? token.replaceAll('~1', '/').replaceAll('~0', '~') : token;
}

/** Whether a pointer leads to a part of the value at `above`. */
export function isBelow({ tokens }: Pointer, above: Pointer): boolean {
  return tokens.length > above.tokens.length && above.tokens.every((token, at) => tokens[at] === token);
}

/** More than the length of any valid path; a message must not grow with the input. */
const maxValueLength = 320;

/** Shortens a pointer for a message. */
export function formatPointer(text: string): string {
  return text.length <= maxValueLength ? text : `${text.slice(0, maxValueLength)}…`;
}

/** Undefined when the token is not an index of a list; an index may be beyond the end. */
export function parseIndex(token: string): number | undefined {
  return /^(?:0|[1-9]\d{0,14})$/.test(token) ? Number(token) : undefined;
}
