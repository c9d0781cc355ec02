import { shortStep } from '../schema/index.ts';

/** The deepest that a body may nest. */
export const depthLimit = 256;

/** Of duplicate keys this many are reported at most. */
export const duplicatesLimit = 100;

const longestPath = 1000;

/** `spec.taints[0].key`, from keys and indexes; the beginning of a very long path is left out. */
export function joinPath(steps: readonly (string | number)[]): string {
  const path = steps.reduce<string>((before, step) => {
    if (typeof step === 'number') return `${before}[${step}]`;
    return before === '' ? shortStep(step) : `${before}.${shortStep(step)}`;
  }, '');
  return path.length <= longestPath ? path : `…${path.slice(-longestPath)}`;
}
