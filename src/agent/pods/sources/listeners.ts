import type { Pod } from '../../../api/index.ts';
import type { Logger } from '../../../base/index.ts';
import { Listeners } from '../../../base/index.ts';

/** Listeners for changes of pods. */
export type PodListeners = Listeners<[pods: readonly Pod[]]>;

export function createListeners(log: Logger): PodListeners {
  return new Listeners('that pods have changed', log);
}
