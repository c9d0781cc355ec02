/** Where a value stands in a document (RFC 6901): its names and indexes from the root. */
export interface Pointer {
  text: string;
  tokens: readonly string[];
}

/** Undefined for what is no pointer. */
export function parsePointer(text: string): Pointer | undefined {
  if (text === '') return { text, tokens: [] };
  if (!text.startsWith('/') || /~(?![01])/.test(text)) return undefined;
  return { text, tokens: text.slice(1).split('/').map(unescaped) };
}

function unescaped(token: string): string {
  return token.includes('~') ? token.replaceAll('~1', '/').replaceAll('~0', '~') : token;
}

/** Whether a place lies within what stands at another one. */
export function isBelow({ tokens }: Pointer, above: Pointer): boolean {
  return tokens.length > above.tokens.length && above.tokens.every((token, at) => tokens[at] === token);
}

/** Longer than any path that leads somewhere; a message must not grow with what is wrong. */
const maxValueLength = 320;

/** A pointer's text in a message. */
export function shownPointer(text: string): string {
  return text.length <= maxValueLength ? text : `${text.slice(0, maxValueLength)}…`;
}

/** Undefined for what is no index of a list; an index may lie beyond its end. */
export function indexOf(token: string): number | undefined {
  return /^(?:0|[1-9]\d{0,14})$/.test(token) ? Number(token) : undefined;
}
