import { BoundedMap } from '../../../base/index.ts';
import type { AnswerKind, Negotiated } from './negotiate.ts';
import { negotiate } from './negotiate.ts';

export type Negotiator = (accept: string | undefined, answer: AnswerKind) => Negotiated;

const maxEntries = 64;
const maxKeyLength = 512;

/**
 * Creates a function that negotiates and caches the results: a fleet of node agents sends the same header with every
 * heartbeat. The function throws 406.
 */
export function createNegotiator(groupSuffix: string): Negotiator {
  const known = new BoundedMap<string, Negotiated>({ maxEntries });
  return (accept, answer) => {
    const key = `${answer} ${accept ?? ''}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const negotiated = negotiate(accept, answer, groupSuffix);
    if (key.length <= maxKeyLength) known.set(key, negotiated);
    return negotiated;
  };
}
