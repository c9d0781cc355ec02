/** A selector that cannot be parsed; the answer is 400. */
export class SelectorError extends Error {
  override readonly name = 'SelectorError';
  /** The position in the text, in characters from 0. */
  readonly position: number;

  constructor(selector: 'label' | 'field', position: number, problem: string) {
    super(`${selector} selector, character ${position + 1}: ${problem}`);
    this.position = position;
  }
}

/** More than any client sends; a longer selector is refused unread. */
const maxCharacters = 64 * 1024;

export function checkLength(selector: 'label' | 'field', text: string): void {
  if (text.length <= maxCharacters) return;
  throw new SelectorError(selector, maxCharacters, `longer than ${maxCharacters} characters`);
}

/** More terms than any client sends; each costs time on every object. */
const maxTerms = 1000;

export function checkTerms(selector: 'label' | 'field', count: number, position: number): void {
  if (count <= maxTerms) return;
  throw new SelectorError(selector, position, `more than ${maxTerms} requirements`);
}

/** Formats a piece of the selector for a message: quoted, and cut when it is long. */
export function formatPiece(piece: string): string {
  return JSON.stringify(piece.length > 80 ? `${piece.slice(0, 77)}…` : piece);
}
