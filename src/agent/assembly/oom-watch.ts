import { join } from 'node:path';
import type { Service } from '../../base/index.ts';
import { Counter, MetricsRegistry, readKernelFile } from '../../base/index.ts';
import type { EventRecorder } from '../node/events/index.ts';
import type { PodRuntimeView } from '../pods/index.ts';
import type { AgentRoute } from '../server/index.ts';
import { metricsRoute } from '../server/index.ts';
import type { WatchedContainer } from '../usage/index.ts';
import { describeKills, OomLedger, OomWatch } from '../usage/index.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';
import type { PodUsage } from './pod-use.ts';

type PodView = ReturnType<PodRuntimeView['pods']>[number];
type ContainerView = PodView['containers'][number];

export interface OomWatchParts {
  readonly view: Pick<PodRuntimeView, 'pods' | 'pod' | 'isComplete' | 'onChange'>;
  readonly usage: PodUsage;
  readonly events: EventRecorder;
}

export interface AssembledOomWatch {
  readonly run: Service['run'];
  /** `/metrics/cadvisor`, where clients of the reference look for what the kernel counts of containers. */
  readonly route: AgentRoute;
  /** The container with the cause of its end, where the kernel has killed a process of it. */
  withEnd(container: ContainerView, podUid: string): ContainerView;
}

/** Tells with an Event on the pod when the kernel kills a process of a container, and in the status when that has ended it. */
export async function openOomWatch(
  context: AgentContext,
  { view, usage, events }: OomWatchParts,
): Promise<AssembledOomWatch> {
  const { options, stack } = context;
  const ledger = stack.use(
    await OomLedger.open({
      path: join(options.rootDir, 'oom-kills.json'),
      bootId: readKernelFile('/proc/sys/kernel/random/boot_id')?.trim() ?? '',
      ...part(context, 'oom-watch'),
    }),
  );
  const watch = stack.use(
    new OomWatch({
      ...{ groups: usage.groups, ledger, clock: options.clock },
      containers: (podUid) => podsOf(view, podUid).flatMap(watchedOf),
      isComplete: () => view.isComplete(),
      report(kills) {
        const { podUid: uid, name } = kills.container;
        const pod = view.pod(uid);
        if (pod === undefined) return;
        const subject = { kind: 'Pod' as const, uid, namespace: pod.namespace, name: pod.name };
        events.record(
          { ...subject, fieldPath: `spec.containers{${name}}` },
          { type: 'Warning', reason: 'OOMKilling', message: describeKills(kills) },
        );
      },
    }),
  );
  return {
    async run(signal, ready) {
      using _following = view.onChange((uid) => watch.podChanged(uid));
      ready();
      await watch.run(signal);
    },
    route: { ...metricsRoute(countKills(watch, view)), path: '/metrics/cadvisor' },
    withEnd(container, podUid) {
      const [watched] = toWatched(podUid, container);
      const end = watched && watch.endOf(watched);
      if (end === undefined) return container;
      const message = [end.message, container.message].filter((part) => part !== '').join(': ');
      return { ...container, message, reason: end.isKilled ? 'OOMKilled' : container.reason };
    },
  };
}

function podsOf(view: OomWatchParts['view'], podUid: string | undefined): readonly PodView[] {
  if (podUid === undefined) return view.pods();
  const pod = view.pod(podUid);
  return pod === undefined ? [] : [pod];
}

const watchedOf = ({ uid, containers }: PodView): WatchedContainer[] =>
  containers.flatMap((container) => toWatched(uid, container));

/** None of one that is neither running nor known to have ended. */
function toWatched(podUid: string, container: ContainerView): WatchedContainer[] {
  const { id, name, state, startedMs, finishedMs, exitCode, reason, resources } = container;
  if (state !== 'running' && state !== 'exited') return [];
  const limitBytes =
    resources === undefined || resources.memoryLimitBytes <= 0 ? undefined : resources.memoryLimitBytes;
  return [{ podUid, id, name, state, startedMs, finishedMs, exitCode, reason, limitBytes }];
}

/** Under the reference's name, with its labels: a series for each container that runs, and for those that have ended with a kill. */
function countKills(watch: OomWatch, view: OomWatchParts['view']): MetricsRegistry {
  const registry = new MetricsRegistry();
  new Counter({
    name: 'container_oom_events_total',
    help: 'Processes of the container that the kernel has killed for want of memory.',
    labelNames: ['container', 'id', 'image', 'name', 'namespace', 'pod'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { container, kills, path: id } of watch.totals()) {
        const { podUid, id: name, state } = container;
        const pod = view.pod(podUid);
        if (pod === undefined || (kills === 0 && state !== 'running')) continue;
        const image = pod.containers.find((each) => each.id === name)?.image ?? '';
        const { namespace, name: podName } = pod;
        this.inc({ container: container.name, id, image, name, namespace, pod: podName }, kills);
      }
    },
  });
  return registry;
}
