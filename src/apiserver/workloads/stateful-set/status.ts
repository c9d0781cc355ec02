import type { StatefulSet } from '../../../api/index.ts';
import { withoutZeros } from '../counts.ts';
import { isAvailable } from '../pod-state.ts';
import type { StatefulView } from './decide.ts';
import { isRunningAndReady } from './decide.ts';
import { revisionOf } from './identity.ts';

interface Counts {
  replicas: number;
  readyReplicas: number;
  availableReplicas: number;
  currentReplicas: number;
  updatedReplicas: number;
}

/** Numbers and revisions of the status. When all pods are of the newest revision and ready, it is the current one. */
export function countPods(view: StatefulView) {
  const { set, currentRevision, updateRevision } = view;
  const counts = countBy(view);
  if (!isUpdated(set, counts)) return { ...withoutZeros({ ...counts }), currentRevision, updateRevision };
  const { updatedReplicas: currentReplicas } = counts;
  return {
    ...withoutZeros({ ...counts, currentReplicas }),
    ...{ currentRevision: updateRevision, updateRevision },
  };
}

function countBy({ set, pods, currentRevision, updateRevision, nowMs }: StatefulView): Counts {
  const counts: Counts = {
    ...{ replicas: 0, readyReplicas: 0, availableReplicas: 0, currentReplicas: 0, updatedReplicas: 0 },
  };
  for (const pod of pods) {
    counts.replicas++;
    if (isRunningAndReady(pod)) {
      counts.readyReplicas++;
      if (isAvailable(pod, set.spec?.minReadySeconds, nowMs)) counts.availableReplicas++;
    }
    if (pod.metadata?.deletionTimestamp !== undefined) continue;
    const revision = revisionOf(pod);
    if (revision === currentRevision) counts.currentReplicas++;
    if (revision === updateRevision) counts.updatedReplicas++;
  }
  return counts;
}

function isUpdated({ spec }: StatefulSet, { replicas, readyReplicas, updatedReplicas }: Counts): boolean {
  const wanted = spec?.replicas ?? 1;
  if (spec?.updateStrategy?.type === 'OnDelete') return false;
  return [replicas, readyReplicas, updatedReplicas].every((count) => count === wanted);
}
