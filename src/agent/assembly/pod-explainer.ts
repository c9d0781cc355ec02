import type { Explainer, PodExplanation, PodTimeline, WaitTimes } from '../pods/explain/index.ts';
import { explainPod } from '../pods/explain/index.ts';
import type { PodRuntimeView } from '../pods/index.ts';
import { fullName } from '../pods/index.ts';
import type { NodeTeller, PodManager, PodWorker } from '../pods/worker/index.ts';

interface ExplainParts {
  manager: PodManager;
  teller: NodeTeller;
  timeline: PodTimeline;
  waits: WaitTimes;
  view: PodRuntimeView;
}

/** Explains the pods that have a worker here. */
export function createExplainer({ manager, teller, timeline, waits, view }: ExplainParts): Explainer {
  const explain = ({ uid, pod, origin, plan, record }: PodWorker): PodExplanation[] => {
    if (plan === undefined) return [];
    const phase = teller.statusOf(uid)?.phase;
    return [
      explainPod({
        ...{ pod, origin, plan, record },
        view: view.pod(uid),
        timeline: timeline.entries(uid),
        waitsSinceMs: waits.of(uid),
        ...(phase === undefined ? {} : { phase }),
      }),
    ];
  };
  const nameOf = ({ pod }: PodWorker) => fullName(pod);
  return {
    list: () =>
      manager
        .workers()
        .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
        .flatMap(explain),
    find: (namespace, name) =>
      manager
        .workers()
        .filter((worker) => nameOf(worker) === `${namespace}/${name}`)
        .flatMap(explain)[0],
  };
}
