import type { ControllerOptions } from '../controller.ts';
import { createEventRecorder } from '../event-recorder.ts';
import type { AwakeTime } from './awake-time.ts';
import type { ConditionTaints } from './condition-taints.ts';
import { conditionTaints } from './condition-taints.ts';
import { Fleet } from './fleet.ts';
import { LostPods } from './lost-pods.ts';
import { PodEvictions } from './pod-evictions.ts';
import type { Settings } from './settings.ts';
import { Settling } from './settling.ts';
import { nodeTaints } from './taints.ts';
import type { Telling } from './telling.ts';
import { telling } from './telling.ts';
import { EvictionPace } from './zones.ts';

/** What one run of the node lifecycle consists of; nothing of it outlives that. */
export interface Parts {
  fleet: Fleet;
  pace: EvictionPace;
  conditionTaints: ConditionTaints;
  settling: Settling;
  tell: Telling;
  /** Works until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

interface PartsOptions {
  settings: Settings;
  awake: AwakeTime;
  onOutage(): void;
}

export function createParts(options: ControllerOptions, { settings, awake, onOutage }: PartsOptions): Parts {
  const { taintDomain, gracePeriodMs } = settings;
  const taints = nodeTaints(taintDomain);
  const byCondition = conditionTaints(taintDomain);
  const fleet = new Fleet({ gracePeriodMs, taints, now: () => awake.nowMs });
  const events = createEventRecorder(options);
  const tell = telling(events);
  const evictions = new PodEvictions({ ...options, tell }, awake);
  const lost = new LostPods({ ...options, tell });
  const verdicts = { fleet, taints, conditionTaints: byCondition };
  return {
    fleet,
    pace: new EvictionPace(settings),
    conditionTaints: byCondition,
    settling: new Settling({ ...options, ...verdicts, evictions, lostPods: lost, tell, onOutage }),
    tell,
    async run(signal) {
      await Promise.all([evictions.run(signal), lost.run(signal), events.run(signal)]);
    },
  };
}
