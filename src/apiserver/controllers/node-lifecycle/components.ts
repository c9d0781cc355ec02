import type { ControllerOptions } from '../controller.ts';
import { createEventRecorder } from '../event-recorder.ts';
import type { AwakeTime } from './awake-time.ts';
import type { ConditionTaints } from './condition-taints.ts';
import { conditionTaints } from './condition-taints.ts';
import { Fleet } from './fleet.ts';
import type { LifecycleEvents } from './lifecycle-events.ts';
import { createLifecycleEvents } from './lifecycle-events.ts';
import { LostPods } from './lost-pods.ts';
import { NodeReconciler } from './node-reconciler.ts';
import { PodEvictions } from './pod-evictions.ts';
import type { Settings } from './settings.ts';
import { nodeTaints } from './taints.ts';
import { EvictionPace } from './zones.ts';

/** The parts of one run of the node lifecycle; the next run has new ones. */
export interface Components {
  fleet: Fleet;
  pace: EvictionPace;
  conditionTaints: ConditionTaints;
  reconciler: NodeReconciler;
  events: LifecycleEvents;
  /** Works until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

interface ComponentsOptions {
  settings: Settings;
  awake: AwakeTime;
  onOutage(): void;
}

export function createComponents(
  options: ControllerOptions,
  { settings, awake, onOutage }: ComponentsOptions,
): Components {
  const { taintDomain, gracePeriodMs } = settings;
  const taints = nodeTaints(taintDomain);
  const byCondition = conditionTaints(taintDomain);
  const fleet = new Fleet({ gracePeriodMs, taints, now: () => awake.nowMs });
  const recorder = createEventRecorder(options);
  const events = createLifecycleEvents(recorder);
  const evictions = new PodEvictions({ ...options, events }, awake);
  const lost = new LostPods({ ...options, events });
  const verdicts = { fleet, taints, conditionTaints: byCondition };
  return {
    fleet,
    pace: new EvictionPace(settings),
    conditionTaints: byCondition,
    reconciler: new NodeReconciler({ ...options, ...verdicts, evictions, lostPods: lost, events, onOutage }),
    events,
    async run(signal) {
      await Promise.all([evictions.run(signal), lost.run(signal), recorder.run(signal)]);
    },
  };
}
