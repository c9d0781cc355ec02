/** A selector that cannot be understood; answered with 400. */
export class SelectorError extends Error {
  override readonly name = 'SelectorError';
  /** Where in the text, counted in characters from 0. */
  readonly position: number;

  constructor(selector: 'label' | 'field', position: number, problem: string) {
    super(`${selector} selector, character ${position + 1}: ${problem}`);
    this.position = position;
  }
}

/** More than any client sends; what is longer is refused unread. */
const limitCharacters = 64 * 1024;

export function checkLength(selector: 'label' | 'field', text: string): void {
  if (text.length <= limitCharacters) return;
  throw new SelectorError(selector, limitCharacters, `longer than ${limitCharacters} characters`);
}

/** More terms than any client sends; each costs time on every object. */
const limitTerms = 1000;

export function checkTerms(selector: 'label' | 'field', count: number, position: number): void {
  if (count <= limitTerms) return;
  throw new SelectorError(selector, position, `more than ${limitTerms} requirements`);
}

/** A piece of the selector for a message: quoted, and cut when it is long. */
export function shown(piece: string): string {
  return JSON.stringify(piece.length > 80 ? `${piece.slice(0, 77)}…` : piece);
}
