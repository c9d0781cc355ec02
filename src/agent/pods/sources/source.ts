import type { Pod } from '../../../api/index.ts';
import type { Logger } from '../../../base/index.ts';
import { annotationOf, mirrorAnnotation } from '../names.ts';
import type { PodSource } from '../types.ts';
import { createListeners } from './listeners.ts';

/** Joins several sources. Mirror pods are left out: the static pods that they mirror are included. */
export function joinSources(sources: readonly PodSource[], log: Logger): PodSource & Disposable {
  const listeners = createListeners(log);
  const isOwn = (pod: Pod) => annotationOf(pod, mirrorAnnotation) === undefined;
  const pods = () => sources.flatMap((source) => source.pods().filter(isOwn));
  const subscriptions = sources.map((source) => source.onChange(() => listeners.notify(pods())));
  return {
    pods,
    onChange: listeners.add,
    [Symbol.dispose]() {
      for (const each of subscriptions) each[Symbol.dispose]();
    },
  };
}
