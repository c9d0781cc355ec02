import { limits } from './limits.ts';

/** Collects what could not be read or understood, as texts for people. */
export interface Notes {
  add(text: string): void;
  /** In the order in which they were added; the last says how many were not kept. */
  list(): string[];
}

export function createNotes(): Notes {
  const kept = new Set<string>();
  let more = 0;
  return {
    add(text) {
      if (kept.size < limits.notes) kept.add(text.slice(0, 500));
      else if (!kept.has(text.slice(0, 500))) more++;
    },
    list: () => (more === 0 ? [...kept] : [...kept, `and ${more} more of the kind`]),
  };
}
