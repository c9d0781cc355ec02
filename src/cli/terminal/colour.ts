import type { CommandContext } from './context.ts';
import { isTerminal } from './context.ts';

/** What a text says of what it is about: something is wrong, may go wrong, is as it should be, or does not hold any more. */
export type Tone = 'bad' | 'doubtful' | 'good' | 'faint';

/** Colours a text by its tone; a text without a tone stays as it is. */
export type Paint = (text: string, tone: Tone | undefined) => string;

const codes: Readonly<Record<Tone, number>> = { bad: 31, doubtful: 33, good: 32, faint: 2 };

export const withoutColour: Paint = (text) => text;

const withColour: Paint = (text, tone) =>
  tone === undefined || text === '' ? text : `\u001b[${codes[tone]}m${text}\u001b[0m`;

/** Colours only where standard output is a terminal and NO_COLOR is unset or empty. */
export function createPaint({ stdout, env }: Pick<CommandContext, 'stdout' | 'env'>): Paint {
  return isTerminal(stdout) && !env['NO_COLOR'] ? withColour : withoutColour;
}
