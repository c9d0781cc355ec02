import type { Counts } from './counts.ts';
import { formatCounts, none, sum } from './counts.ts';

/** A part of a run: how long its work took, and whether it broke. One that breaks counts as a failure, so that the others still run. */
export class PartRun {
  readonly name: string;
  readonly #write: (text: string) => void;
  #tookMs = 0;
  #broke = 0;

  constructor(name: string, { write }: { write(text: string): void }) {
    this.name = name;
    this.#write = write;
  }

  /** Undefined when it breaks, which is written. Never rejects. */
  async attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    const startMs = performance.now();
    try {
      return await work();
    } catch (error) {
      this.#broke += 1;
      const why = error instanceof Error ? error.stack : String(error);
      this.#write(`✖ the runner of ${this.name} broke: ${why}\n`);
      return undefined;
    } finally {
      this.#tookMs += performance.now() - startMs;
    }
  }

  /** Writes the line with which a part ends; returns what counts. */
  end(counts: Counts): Counts {
    const all = sum([counts, { ...none, failed: this.#broke }]);
    this.#write(`${this.name}: ${formatCounts(all)} (${Math.round(this.#tookMs / 1000)} s)\n`);
    return all;
  }
}
