import type { Revision } from '../../types.ts';

/** The callers that wait for history to be forgotten. */
export class Compactions {
  readonly #waiting = new Set<{ upTo: Revision } & PromiseWithResolvers<void>>();

  /** Resolves when history before `upTo` is gone. */
  wait(upTo: Revision): Promise<void> {
    const waiting = { upTo, ...Promise.withResolvers<void>() };
    this.#waiting.add(waiting);
    return waiting.promise;
  }

  /** History before `upTo` is gone; with `problem`, no more will be forgotten. */
  settle(upTo: Revision, problem: Error | undefined): void {
    for (const waiting of this.#waiting) {
      if (waiting.upTo <= upTo) waiting.resolve();
      else if (problem !== undefined) waiting.reject(problem);
      else continue;
      this.#waiting.delete(waiting);
    }
  }
}
