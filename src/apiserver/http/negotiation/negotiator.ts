import { BoundedMap } from '../../../base/index.ts';
import type { AnswerKind, Negotiated } from './negotiate.ts';
import { negotiate } from './negotiate.ts';

export type Negotiator = (accept: string | undefined, answer: AnswerKind) => Negotiated;

const maxEntries = 64;
const maxLength = 512;

/**
 * Negotiates, and remembers for the few headers that clients send again and again: a fleet of node agents sends the
 * same one with every heartbeat. Throws 406.
 */
export function createNegotiator(groupSuffix: string): Negotiator {
  const known = new BoundedMap<string, Negotiated>({ maxEntries });
  return (accept, answer) => {
    const key = `${answer} ${accept ?? ''}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const negotiated = negotiate(accept, answer, groupSuffix);
    if (key.length <= maxLength) known.set(key, negotiated);
    return negotiated;
  };
}
