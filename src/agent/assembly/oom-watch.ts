import type { MetricsRegistry, Service } from '../../base/index.ts';
import { Gauge } from '../../base/index.ts';
import type { EventRecorder } from '../node/events/index.ts';
import { formatBytes } from '../node/index.ts';
import type { PodRuntimeView } from '../pods/index.ts';
import type { OomKills, WatchedContainer } from '../usage/index.ts';
import { OomWatch } from '../usage/index.ts';
import type { AgentContext } from './context.ts';
import type { PodUsage } from './pod-use.ts';

type PodView = ReturnType<PodRuntimeView['pods']>[number];

export interface OomWatchParts {
  readonly view: Pick<PodRuntimeView, 'pods' | 'pod'>;
  readonly usage: PodUsage;
  readonly events: EventRecorder;
}

/** Tells with an Event on the pod when the kernel kills a process of a container, also where the container runs on. */
export function createOomWatch(
  { options, metrics }: AgentContext,
  { view, usage, events }: OomWatchParts,
): OomWatch {
  const watch = new OomWatch({
    groups: usage.groups,
    clock: options.clock,
    containers: () => view.pods().flatMap(watchedOf),
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
  });
  registerTotals(metrics, watch, view);
  return watch;
}

export function runOomWatch(watch: OomWatch): Service['run'] {
  return async (signal, ready) => {
    ready();
    await watch.run(signal);
  };
}

function watchedOf({ uid, containers }: PodView): WatchedContainer[] {
  const toWatched = ({ id, name, startedMs }: PodView['containers'][number]) => ({
    podUid: uid,
    id,
    name,
    startedMs,
  });
  return containers.filter(({ state }) => state === 'running').map(toWatched);
}

/** `… killed the process "java" (pid 77, 63Mi in memory) of container app: …` */
export function describeKills({ container, count, process, usageBytes, limitBytes }: OomKills): string {
  const whom =
    process === undefined
      ? `${count === 1 ? 'a process' : `${count} processes`}`
      : `${count === 1 ? '' : `${count} processes, at last `}the process ${JSON.stringify(process.name)} (pid ${process.pid}, ${readable(process.residentBytes)} in memory)`;
  const limit =
    limitBytes === undefined
      ? 'it has no limit of memory of its own'
      : `its limit of memory is ${readable(limitBytes)}`;
  const usage = usageBytes === undefined ? '' : `, and ${readable(usageBytes)} are in use now`;
  return `the kernel killed ${whom} of container ${container.name} for want of memory: ${limit}${usage}`;
}

/** Down to whole mebibytes, where there are some. */
function readable(bytes: number): string {
  const unit = bytes >= 2 ** 20 ? 2 ** 20 : 1024;
  return formatBytes(Math.floor(bytes / unit) * unit);
}

function registerTotals(registry: MetricsRegistry, watch: OomWatch, view: OomWatchParts['view']): void {
  new Gauge({
    name: 'nodeward_container_oom_kills',
    help: 'Processes of a container that runs which the kernel has killed for want of memory; without those from before the agent was started.',
    labelNames: ['container', 'namespace', 'pod'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { container, total } of watch.totals()) {
        const { namespace, name: pod } = view.pod(container.podUid) ?? {};
        if (namespace !== undefined && pod !== undefined && total > 0)
          this.set({ container: container.name, namespace, pod }, total);
      }
    },
  });
}
