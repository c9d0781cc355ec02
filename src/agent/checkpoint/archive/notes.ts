import { limits } from './limits.ts';

/** What could not be read or understood, for people. */
export interface Notes {
  add(text: string): void;
  /** In the order in which they came; says how many more there were than are kept. */
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
