import type { Pod } from '../../../api/index.ts';
import type { Logger } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';

/** Listeners for changes of pods. */
export interface Listeners {
  add(listener: (pods: readonly Pod[]) => void): Disposable;
  /** Calls all listeners; what one throws is logged, and the others are still called. */
  notify(pods: readonly Pod[]): void;
}

export function createListeners(log: Logger): Listeners {
  const listeners = new Set<(pods: readonly Pod[]) => void>();
  return {
    add(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    notify(pods) {
      for (const listener of [...listeners]) {
        try {
          listener(pods);
        } catch (error) {
          log.error(`pods that have changed could not be worked on: ${describeError(error)}`);
        }
      }
    },
  };
}
