import type { AnswerKind, Negotiated } from './negotiate.ts';
import { negotiate } from './negotiate.ts';

export type Negotiator = (accept: string | undefined, answer: AnswerKind) => Negotiated;

const mostKnown = 64;
const longestKnown = 512;

/**
 * Negotiates, and remembers for the few headers that clients send again and again: a fleet of node agents sends the
 * same one with every heartbeat. Throws 406.
 */
export function createNegotiator(groupSuffix: string): Negotiator {
  const known = new Map<string, Negotiated>();
  return (accept, answer) => {
    const key = `${answer} ${accept ?? ''}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const negotiated = negotiate(accept, answer, groupSuffix);
    if (known.size >= mostKnown) known.clear();
    if (key.length <= longestKnown) known.set(key, negotiated);
    return negotiated;
  };
}
