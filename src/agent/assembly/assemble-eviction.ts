import type { Service } from '../../base/index.ts';
import type { ActivePod } from '../eviction/index.ts';
import { Evictor, evictionMetrics, FileSystems } from '../eviction/index.ts';
import type { ImageCollector } from '../images/index.ts';
import type { EventRecorder } from '../node/events/index.ts';
import { nodeSubject, podSubject } from '../node/events/index.ts';
import type { Measure } from '../node/index.ts';
import { readMemory } from '../node/index.ts';
import type { PodRuntimeView } from '../pods/index.ts';
import type { PodManager } from '../pods/worker/index.ts';
import { canBeEnded } from '../pods/worker/index.ts';
import type { Runtime } from '../runtime/index.ts';
import type { AgentContext } from './context.ts';
import { part, restartedService } from './context.ts';
import { disksOf } from './node-facts.ts';
import type { PodUsage } from './pod-use.ts';
import { PodUseReader } from './pod-use.ts';

export interface EvictionParts {
  readonly manager: PodManager;
  readonly runtime: Pick<Runtime, 'images'>;
  readonly measure: Measure;
  readonly collector: Pick<ImageCollector, 'removeUnused'>;
  readonly events: EventRecorder;
  readonly view: Pick<PodRuntimeView, 'pod'>;
  /** Undefined on a machine without control groups. */
  readonly usage: PodUsage | undefined;
}

/** As in the reference; a node whose status is looked at more often is, too. */
const maxRoundMs = 10_000;

/** What ends pods when the node is short of something. */
export function createEvictor(context: AgentContext, parts: EvictionParts): Evictor {
  const { live, metrics, nodeName, options, stack } = context;
  const { manager, runtime, measure, collector, events } = parts;
  const use = new PodUseReader({ ...parts, ...part(context, 'eviction') });
  const { clock, rootDir } = options;
  const evictor = new Evictor({
    ...{ measure, readUse: use.read, memoryEvents: use.memoryEvents },
    allPodsMemory: () => (live.current.enforcement.pods ? use.allPodsMemory() : undefined),
    readMemory: () => readMemory('/proc', '/sys'),
    eviction: () => live.current.eviction,
    roundMs: () => Math.min(maxRoundMs, live.current.nodeStatusUpdateFrequencyMs),
    fileSystems: new FileSystems({ rootDir, clock, runtimeDisks: () => disksOf(runtime) }),
    pods: () => activePods(manager),
    endPod: (uid, end) => manager.endPod(uid, end),
    isReleased: (uid) => {
      const worker = manager.worker(uid);
      return worker === undefined || !canBeEnded(worker);
    },
    removeDeadContainers: (signal) => manager.clearEnded(signal),
    removeUnusedImages: (signal) => collector.removeUnused(signal),
    podEvent: (pod, happening) => events.record(podSubject(pod), happening),
    nodeEvent: (happening) => events.record(nodeSubject(nodeName), happening),
    metrics: evictionMetrics(metrics),
    ...part(context, 'eviction'),
  });
  stack.use(live.onReload(evictor.wake));
  return evictor;
}

/** As a service, whose first look others wait for. */
export function evictionService(evictor: Evictor): Service {
  return restartedService('eviction', ['lock'], evictor.run);
}

/** One that the node ends already, for whatever reason, is not chosen again: it may not go at all, and others could make room. */
function activePods(manager: PodManager): ActivePod[] {
  return manager.workers().flatMap((worker) => {
    const { pod, origin, record } = worker;
    const isActive = record.isAdmitted && canBeEnded(worker) && record.termination?.reason === undefined;
    return isActive ? [{ pod, origin, isEnding: record.termination !== undefined }] : [];
  });
}
