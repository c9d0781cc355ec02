import type { Paint, Tone } from '../terminal/colour.ts';
import { sanitize } from '../terminal/text.ts';

/** A piece of a line. Its text is what the terminal gets: what others wrote has gone through `span`. */
export interface Span {
  readonly text: string;
  readonly tone?: Tone | undefined;
}

export type Line = readonly Span[];

/** Safe for a terminal, whatever the text is. */
export const span = (text: string, tone?: Tone): Span => ({ text: sanitize(text), tone });

export const widthOf = (line: Line): number => line.reduce((sum, { text }) => sum + text.length, 0);

export const padLeft = (text: string, width: number): string => cut(text, width).padStart(width);
export const padRight = (text: string, width: number): string => cut(text, width).padEnd(width);

/** With the sign that something is missing at its end where it is too long. */
export function cut(text: string, width: number): string {
  if (text.length <= width) return text;
  return width < 1 ? '' : `${text.slice(0, width - 1)}…`;
}

/** As much of a line as fits. */
export function cutLine(line: Line, width: number): Line {
  let left = width;
  return line.flatMap((each) => {
    const text = cut(each.text, left);
    left -= text.length;
    return text === '' ? [] : [{ ...each, text }];
  });
}

/** The pieces as far as all of each fits, with two spaces between them; the first in any case, cut. */
export function joinFitting(pieces: readonly Span[], width: number): Line {
  const [first, ...more] = pieces;
  if (first === undefined) return [];
  const line: Span[] = [...cutLine([first], width)];
  for (const each of more) {
    if (widthOf(line) + 2 + each.text.length > width) break;
    line.push({ text: '  ' }, each);
  }
  return line;
}

/** Everything as something that does not hold any more. */
export const faint = (line: Line): Line => line.map(({ text }) => ({ text, tone: 'faint' }));

/** Without spaces at its end. */
export function paintLine(line: Line, paint: Paint): string {
  const end = line.findLastIndex(({ text }) => text.trimEnd() !== '');
  return line
    .slice(0, end + 1)
    .map(({ text, tone }, index) => paint(index === end ? text.trimEnd() : text, tone))
    .join('');
}
