import type { Pod } from '../../api/index.ts';
import type { Logger } from '../../base/index.ts';
import { describeError } from '../../base/index.ts';

/** Those who want to know when pods have changed. */
export interface Listeners {
  add(listener: (pods: readonly Pod[]) => void): Disposable;
  /** One that fails is logged and harms no other. */
  tell(pods: readonly Pod[]): void;
}

export function createListeners(log: Logger): Listeners {
  const listeners = new Set<(pods: readonly Pod[]) => void>();
  return {
    add(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    tell(pods) {
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
