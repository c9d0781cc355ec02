import type { Clock, MetricsRegistry } from '../../base/index.ts';
import { Counter, Gauge, Histogram } from '../../base/index.ts';
import type { ImageMetrics } from '../images/index.ts';
import { imageMetrics } from '../images/index.ts';
import { findMainWait, knownReason } from '../pods/explain/index.ts';
import type { Housekeeper } from '../pods/housekeeping/index.ts';
import type { PodRuntimeView, PodSource } from '../pods/index.ts';
import type { PodManager } from '../pods/worker/index.ts';
import { PodLifeMetrics, stepMetrics } from '../pods/worker/index.ts';
import type { CallMetrics } from '../runtime/index.ts';
import { callMetrics } from '../runtime/index.ts';
import type { PodVolumes, UsedClaim } from '../volumes/index.ts';
import type { AgentContext } from './context.ts';

export interface RunningMetrics {
  readonly calls: CallMetrics;
  readonly steps: ReturnType<typeof stepMetrics>;
  readonly lives: PodLifeMetrics;
  readonly images: ImageMetrics;
  onRotated(result: 'done' | 'failed'): void;
  onListed(seconds: number): void;
}

/** The metrics of running pods that are counted where things happen. */
export function createRunningMetrics({ metrics, options }: AgentContext): RunningMetrics {
  const registers = [metrics];
  const rotations = new Counter({
    name: 'nodeward_log_rotations_total',
    help: 'Logs of containers that were rotated when they had reached containerLogMaxSize, by result.',
    labelNames: ['result'],
    registers,
  });
  for (const result of ['done', 'failed']) rotations.inc({ result }, 0);
  return {
    calls: callMetrics(metrics),
    steps: stepMetrics(metrics),
    lives: new PodLifeMetrics(metrics, options.clock),
    images: imageMetrics(metrics),
    onRotated: (result) => rotations.inc({ result }),
    onListed: createListMetrics(metrics, options.clock),
  };
}

function createListMetrics(registry: MetricsRegistry, clock: Clock): (seconds: number) => void {
  const registers = [registry];
  const durations = new Histogram({
    name: 'kubelet_pleg_relist_duration_seconds',
    help: 'How long a list of all sandboxes and containers of the runtime takes.',
    registers,
  });
  const lastListed = new Gauge({
    name: 'kubelet_pleg_last_seen_seconds',
    help: 'When the runtime last listed all its sandboxes and containers, as Unix time; 0 before the first list.',
    registers,
  });
  const startMs = clock.monotonicMs();
  let listedMs: number | undefined;
  new Gauge({
    name: 'nodeward_pod_view_age_seconds',
    help: 'How long ago the runtime last listed all its sandboxes and containers, or the agent started. About 30 at most, unless the runtime does not answer.',
    registers,
    collect() {
      this.set((clock.monotonicMs() - (listedMs ?? startMs)) / 1000);
    },
  });
  return (seconds) => {
    listedMs = clock.monotonicMs();
    durations.observe(Math.max(0, seconds));
    lastListed.set(clock.now() / 1000);
  };
}

export interface RunningParts {
  readonly view: PodRuntimeView;
  readonly manager: PodManager;
  readonly housekeeper: Housekeeper;
  readonly source: PodSource;
  readonly volumes: Pick<PodVolumes, 'left' | 'used'>;
}

const containerStates = ['created', 'running', 'exited', 'unknown'] as const;

/** Those that are read from what there is, at each scrape. */
export function observeRunning(registry: MetricsRegistry, parts: RunningParts): void {
  observeRuntime(registry, parts.view);
  observeWorkers(registry, parts);
  observeClaims(registry, parts.volumes);
  new Gauge({
    name: 'nodeward_pod_leftovers',
    help: 'Folders of pods that are gone which could not be removed; the log and nodeward doctor name them.',
    registers: [registry],
    collect() {
      this.set(parts.housekeeper.leftovers().length);
    },
  });
  new Gauge({
    name: 'nodeward_volumes_not_given_back',
    help: 'Volumes that no pod has any more and that their driver has not taken back yet; the log names them.',
    registers: [registry],
    collect() {
      this.set(parts.volumes.left().length);
    },
  });
}

type Figure = (claim: UsedClaim) => number | undefined;

/** As in the reference. */
const claimFigures: readonly { readonly name: string; readonly help: string; readonly read: Figure }[] = [
  {
    name: 'kubelet_volume_stats_capacity_bytes',
    help: 'Capacity in bytes of the volume',
    read: ({ bytes }) => bytes?.total,
  },
  {
    name: 'kubelet_volume_stats_available_bytes',
    help: 'Number of available bytes in the volume',
    read: ({ bytes }) => bytes?.available,
  },
  {
    name: 'kubelet_volume_stats_used_bytes',
    help: 'Number of used bytes in the volume',
    read: ({ bytes }) => bytes?.used,
  },
  {
    name: 'kubelet_volume_stats_inodes',
    help: 'Maximum number of inodes in the volume',
    read: ({ inodes }) => inodes?.total,
  },
  {
    name: 'kubelet_volume_stats_inodes_free',
    help: 'Number of free inodes in the volume',
    read: ({ inodes }) => inodes?.available,
  },
  {
    name: 'kubelet_volume_stats_inodes_used',
    help: 'Number of used inodes in the volume',
    read: ({ inodes }) => inodes?.used,
  },
];

function observeClaims(registry: MetricsRegistry, volumes: Pick<PodVolumes, 'used'>): void {
  for (const { name, help, read } of claimFigures)
    new Gauge({
      ...{ name, help, labelNames: ['namespace', 'persistentvolumeclaim'], registers: [registry] },
      collect() {
        this.reset();
        for (const used of volumes.used()) {
          const figure = read(used);
          const { namespace, claim: persistentvolumeclaim } = used;
          if (figure !== undefined) this.set({ namespace, persistentvolumeclaim }, figure);
        }
      },
    });
}

function observeRuntime(registry: MetricsRegistry, view: PodRuntimeView): void {
  const registers = [registry];
  new Gauge({
    name: 'kubelet_running_pods',
    help: 'Pods that have a sandbox that is ready.',
    registers,
    collect() {
      this.set(view.pods().filter(({ sandboxes }) => sandboxes.some(({ isReady }) => isReady)).length);
    },
  });
  new Gauge({
    name: 'kubelet_running_containers',
    help: 'Containers that the runtime has, by their state.',
    labelNames: ['container_state'],
    registers,
    collect() {
      const states = view.pods().flatMap(({ containers }) => containers.map(({ state }) => state));
      for (const state of containerStates)
        this.set({ container_state: state }, states.filter((each) => each === state).length);
    },
  });
  new Gauge({
    name: 'nodeward_pod_view_complete',
    help: 'Whether everything of the runtime was listed since it was last reached: 1 or 0.',
    registers,
    collect() {
      this.set(view.isComplete() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'nodeward_pod_view_unread_pods',
    help: 'Pods of which the runtime does not tell the state, though it answers for others.',
    registers,
    collect() {
      this.set(view.pods().filter(({ uid }) => view.podProblem(uid) !== undefined).length);
    },
  });
}

function observeWorkers(registry: MetricsRegistry, { manager, source }: RunningParts): void {
  const registers = [registry];
  new Gauge({
    name: 'kubelet_desired_pods',
    help: 'Pods that this node is to run, by whether they are static.',
    labelNames: ['static'],
    registers,
    collect() {
      const all = source.pods().map(({ metadata }) => metadata?.uid ?? '');
      const isStatic = new Set(
        manager.workers().flatMap(({ origin, uid }) => (origin === 'api' ? [] : [uid])),
      );
      const statics = all.filter((uid) => isStatic.has(uid)).length;
      this.set({ static: 'true' }, statics);
      this.set({ static: 'false' }, all.length - statics);
    },
  });
  new Gauge({
    name: 'nodeward_pods_waiting',
    help: 'Pods that wait for something, by reason: for the pod as a whole, else for the first of its containers that waits. nodeward pods explain tells more.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const { plan } of manager.workers()) {
        const wait = plan && findMainWait(plan).wait;
        if (wait !== undefined) this.inc({ reason: knownReason(wait.reason) });
      }
    },
  });
}
