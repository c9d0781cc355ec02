import { createLocalHost, FullDisks } from '../doctor/index.ts';
import type { Explainer, PodExplanation, PodTimeline, WaitTimes } from '../pods/explain/index.ts';
import { explainPod } from '../pods/explain/index.ts';
import type { PodRuntimeView } from '../pods/index.ts';
import { originOf } from '../pods/index.ts';
import type { Plan, PlanInput, Wait } from '../pods/plan/index.ts';
import type { PodStatus } from '../pods/status/index.ts';
import type { HeldPod, NodeTeller, PodManager, PodWorker } from '../pods/worker/index.ts';
import type { PodProbes } from '../probes/index.ts';
import type { Runtime } from '../runtime/index.ts';
import type { PodVolumes } from '../volumes/index.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';

export interface ExplainParts {
  manager: Pick<PodManager, 'workers' | 'heldPods'>;
  teller: Pick<NodeTeller, 'statusOf'>;
  timeline: Pick<PodTimeline, 'entries'>;
  waits: WaitTimes;
  probes: Pick<PodProbes, 'waitsOf'>;
  view: Pick<PodRuntimeView, 'pod' | 'podProblem'>;
  volumes: Pick<PodVolumes, 'contentsOf'>;
  disks: Pick<FullDisks, 'list'>;
  /** What the node is short of. */
  pressures: Explainer['pressures'];
  /** Whether all sources of pods have been heard. */
  isComplete(): boolean;
  refusedManifests: Explainer['refusedManifests'];
}

/** Explains the pods that are meant for this node or of which it still has something. */
export function createExplainer(parts: ExplainParts): Explainer {
  const { manager, isComplete } = parts;
  const all = () =>
    [
      ...manager.workers().map((worker) => explainWorker(worker, parts)),
      ...manager.heldPods().map((held) => explainHeld(held, parts)),
    ].toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  return {
    list: all,
    find: (namespace, name) => all().find((each) => nameOf(each) === `${namespace}/${name}`),
    fullDisks: () => parts.disks.list(),
    pressures: parts.pressures,
    refusedManifests: parts.refusedManifests,
    whyMissing: () =>
      isComplete() ? undefined : 'the API, or a source of manifests, has not been heard yet since the start',
  };
}

/** The disks that the pods of this node are written to. */
export function findFullDisks(context: AgentContext, runtime: Pick<Runtime, 'images'>): FullDisks {
  const { options, config } = context;
  return new FullDisks({
    rootDir: options.rootDir,
    podLogsDir: config.logs.folder,
    runtimeFolder: () => runtime.images().imageDir,
    host: createLocalHost({ env: process.env, clock: options.clock }),
    ...part(context, 'pods'),
  });
}

const nameOf = ({ namespace, name }: PodExplanation) => `${namespace}/${name}`;

function explainWorker(
  worker: PodWorker,
  { teller, timeline, waits, probes, view, volumes }: ExplainParts,
): PodExplanation {
  const { uid, pod, origin, record, problem } = worker;
  const status = teller.statusOf(uid);
  const phase = status?.phase;
  const wait = problemOf(worker, view.podProblem(uid));
  const known = worker.plan ?? waitingPlan(wait ?? unread);
  const plan = wait === undefined ? known : { ...known, wait };
  return explainPod({
    ...{ pod, origin, plan, record },
    view: view.pod(uid),
    timeline: timeline.entries(uid),
    contents: volumes.contentsOf(uid),
    probeWaits: probes.waitsOf(uid),
    ready: readyOf(status),
    waitsSinceMs:
      wait === undefined ? waits.of(uid) : new Map([...waits.of(uid), ['', problem?.atMs ?? record.takenMs]]),
    ...(phase === undefined ? {} : { phase }),
  });
}

function readyOf(status: PodStatus | undefined): ReadonlyMap<string, boolean> {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return new Map(all.map(({ name, ready }) => [name, ready]));
}

const unread: Wait = {
  reason: 'RuntimeNotReady',
  message: 'the container runtime has not told yet what it has of the pod',
};

/** A plan is no news while the worker cannot look. */
function problemOf({ problem }: PodWorker, ofView: string | undefined): Wait | undefined {
  const why = problem?.message ?? ofView;
  if (why === undefined) return undefined;
  return { reason: 'RuntimeNotReady', message: `the pod cannot be looked at, trying on: ${why}` };
}

function explainHeld({ pod, wait, sinceMs }: HeldPod, { timeline, view }: ExplainParts): PodExplanation {
  const uid = pod.metadata?.uid ?? '';
  const isOver = wait.reason === 'Terminating';
  const record: PlanInput['record'] = { takenMs: sinceMs, isAdmitted: false, ips: [], containers: {} };
  return explainPod({
    ...{ pod, record, origin: originOf(pod) },
    plan: waitingPlan(wait, isOver ? 'ended' : 'starting'),
    view: view.pod(uid),
    timeline: timeline.entries(uid),
    waitsSinceMs: new Map([['', sinceMs]]),
  });
}

function waitingPlan(wait: Wait, stage: Plan['stage'] = 'starting'): Plan {
  return { stage, steps: [], wait, waits: new Map(), imagesWanted: [] };
}
