import { join } from 'node:path';
import { podHasEnded } from '../../api/index.ts';
import type { EventRecorder } from '../node/events/index.ts';
import { nodeSubject } from '../node/events/index.ts';
import { importanceOf, nodeShutdown } from '../pods/admission/index.ts';
import type { PodManager } from '../pods/worker/index.ts';
import { canBeEnded } from '../pods/worker/index.ts';
import {
  findBusPath,
  followLogind,
  Inhibitor,
  NodeShutdown,
  raiseDelay,
  ShutdownTimes,
} from '../shutdown/index.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';

const defaultGraceSeconds = 30;

/** Assembles what ends the pods before the machine ends. */
export function assembleShutdown(
  context: AgentContext,
  events: EventRecorder,
  manager: () => Pick<PodManager, 'workers' | 'endPod'>,
): NodeShutdown {
  const { live, metrics, nodeName, options, stack } = context;
  const { env, rootDir } = options;
  const { clock, log } = part(context, 'shutdown');
  const times = new ShutdownTimes({
    path: join(rootDir, 'graceful_node_shutdown_state'),
    metrics,
    clock,
    log,
  });
  stack.use(times);
  const user = process.geteuid?.() ?? 0;
  return new NodeShutdown({
    periods: () => live.current.shutdown,
    onPeriods: (listener) => live.onReload(listener),
    pods: () =>
      manager()
        .workers()
        .filter(canBeEnded)
        .map(({ uid, pod }) => ({
          uid,
          priority: importanceOf(pod),
          graceSeconds: pod.spec?.terminationGracePeriodSeconds ?? defaultGraceSeconds,
        })),
    end(uid, graceSeconds) {
      manager().endPod(uid, { ...nodeShutdown, graceSeconds });
    },
    isReported: () =>
      manager()
        .workers()
        .every((worker) => worker.origin !== 'api' || canBeEnded(worker) || podHasEnded(worker.pod)),
    follow: (listener, signal) => followLogind({ busPath: findBusPath(env), user, clock }, listener, signal),
    createInhibitor: (onChange) => new Inhibitor({ env, clock, onChange }),
    raise: (logind, seconds, signal) => raiseDelay({ clock }, logind, seconds, signal),
    times,
    tell: (message) =>
      events.record(nodeSubject(nodeName), { type: 'Normal', reason: 'NodeShutdown', message }),
    dependsOn: ['lock'],
    ...{ clock, log },
  });
}
