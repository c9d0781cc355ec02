import type { Pod } from '../../api/index.ts';
import type { Logger } from '../../base/index.ts';
import { createListeners } from './listeners.ts';
import { annotationOf, mirrorAnnotation } from './names.ts';
import type { PodSource } from './types.ts';

/** The pods of several sources as one; mirrors are left out: what they show is there already. */
export function joinSources(sources: readonly PodSource[], log: Logger): PodSource & Disposable {
  const listeners = createListeners(log);
  const isOwn = (pod: Pod) => annotationOf(pod, mirrorAnnotation) === undefined;
  const pods = () => sources.flatMap((source) => source.pods().filter(isOwn));
  const heard = sources.map((source) => source.onChange(() => listeners.tell(pods())));
  return {
    pods,
    onChange: listeners.add,
    [Symbol.dispose]() {
      for (const each of heard) each[Symbol.dispose]();
    },
  };
}
