import type { Pod } from '../../../api/index.ts';
import { formatTime } from '../../../api/index.ts';
import type { ContainerType, ExitRecord, Plan, PodOrigin, PodRecord, Stage, Wait } from '../plan/index.ts';
import type { TypedContainer } from '../status/index.ts';
import { containersOf, restartsOf } from '../status/index.ts';
import type { ContainerView, PodView } from '../view/types.ts';
import type { TimelineEntry } from './timeline.ts';

export interface ExplainInput {
  readonly pod: Pod;
  readonly origin: PodOrigin;
  readonly plan: Plan;
  readonly record: PodRecord;
  readonly view: PodView | undefined;
  readonly timeline: readonly TimelineEntry[];
  /** By container name, and '' for the pod: since when it has waited for the same, milliseconds of the wall clock. */
  readonly waitsSinceMs?: ReadonlyMap<string, number>;
  /** What its status says; default: that of the pod. */
  readonly phase?: string;
}

/** Times are RFC 3339. */
export interface PodExplanation {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly origin: PodOrigin;
  readonly phase: string;
  readonly stage: Stage;
  readonly waitsFor?: WaitExplanation;
  /** That it ends, and why. */
  readonly ends?: { readonly cause: string; readonly reason?: string; readonly message?: string };
  readonly containers: readonly ContainerExplanation[];
  readonly timeline: readonly { readonly time: string; readonly what: string; readonly count: number }[];
}

interface WaitExplanation {
  readonly reason: string;
  readonly message: string;
  readonly since?: string;
  /** When it is tried next by itself. */
  readonly next?: string;
}

export interface ContainerExplanation {
  readonly name: string;
  readonly type: ContainerType;
  readonly state: 'waiting' | 'created' | 'running' | 'ended' | 'unknown';
  readonly reason?: string;
  readonly message?: string;
  readonly since?: string;
  readonly restarts: number;
  readonly next?: string;
  readonly lastExit?: {
    readonly exitCode: number;
    readonly reason: string;
    readonly message?: string;
    readonly finishedAt?: string;
  };
  /** How often in a row its start failed. */
  readonly failedStarts?: number;
  readonly image: string;
}

/** Why a pod is as it is, what is done about it, and what happened to it. */
export function explainPod(input: ExplainInput): PodExplanation {
  const { pod, origin, plan, record, timeline } = input;
  const { namespace = 'default', name = '', uid = '' } = pod.metadata ?? {};
  const { cause, reason, message } = record.termination ?? {};
  const waitsFor = explainWait(input);
  return {
    ...{ namespace, name, uid, origin },
    phase: input.phase ?? pod.status?.phase ?? 'Pending',
    stage: plan.stage,
    ...(waitsFor === undefined ? {} : { waitsFor }),
    ...(cause === undefined
      ? {}
      : { ends: { cause, ...textOf('reason', reason), ...textOf('message', message) } }),
    containers: containersOf(pod).map((container) => explainContainer(container, input)),
    timeline: timeline.map(({ atMs, what, count }) => ({ time: formatTime(atMs), what, count })),
  };
}

/** What the pod waits for as a whole, else the first of its containers that waits. */
function explainWait({ plan, waitsSinceMs }: ExplainInput): WaitExplanation | undefined {
  const [[first, ofContainer] = [undefined, undefined]] = plan.waits;
  const wait = plan.wait ?? ofContainer;
  if (wait === undefined) return undefined;
  const isOfPod = plan.wait !== undefined;
  const message = isOfPod ? wait.message : `container ${first}: ${wait.message || wait.reason}`;
  return {
    ...{ reason: wait.reason, message },
    ...timeOf('since', waitsSinceMs?.get(isOfPod ? '' : (first ?? ''))),
    ...timeOf('next', wait.untilMs),
  };
}

function explainContainer({ type, spec }: TypedContainer, input: ExplainInput): ContainerExplanation {
  const { plan, record, view, waitsSinceMs } = input;
  const views = view?.containers.filter(({ name }) => name === spec.name) ?? [];
  const [current] = views;
  const known = record.containers[spec.name];
  const wait = plan.waits.get(spec.name);
  const exit = views.find(({ state }) => state === 'exited');
  const lastExit = exit === undefined ? exitOfRecord(known?.lastExit) : exitOfView(exit);
  const failures = known?.failure?.count ?? 0;
  return {
    ...{ name: spec.name, type },
    ...stateOf(current, wait, known?.failure),
    ...timeOf('since', sinceOf(current, wait, waitsSinceMs?.get(spec.name))),
    restarts: current === undefined ? (known?.lastExit?.attempt ?? 0) : restartsOf(current),
    ...(current?.state === 'running' ? {} : timeOf('next', wait?.untilMs)),
    ...(lastExit === undefined ? {} : { lastExit }),
    ...(failures === 0 ? {} : { failedStarts: failures }),
    image: spec.image ?? '',
  };
}

function stateOf(
  current: ContainerView | undefined,
  wait: Wait | undefined,
  failure: { readonly reason: string; readonly message: string } | undefined,
): Pick<ContainerExplanation, 'state' | 'reason' | 'message'> {
  if (current?.state === 'running') return { state: 'running' };
  const why = wait ?? failure;
  if (why !== undefined)
    return { state: 'waiting', ...textOf('reason', why.reason), ...textOf('message', why.message) };
  if (current === undefined) return { state: 'waiting' };
  const state = current.state === 'exited' ? 'ended' : current.state;
  return { state, ...textOf('reason', current.reason), ...textOf('message', current.message) };
}

function sinceOf(
  current: ContainerView | undefined,
  wait: Wait | undefined,
  waitsSinceMs: number | undefined,
): number | undefined {
  if (current?.state === 'running') return current.startedMs;
  if (wait !== undefined) return waitsSinceMs;
  return current?.state === 'exited' ? current.finishedMs : undefined;
}

function exitOfView({
  exitCode,
  reason,
  message,
  finishedMs,
}: ContainerView): ContainerExplanation['lastExit'] {
  return { exitCode, reason, ...textOf('message', message), ...timeOf('finishedAt', finishedMs) };
}

function exitOfRecord(exit: ExitRecord | undefined): ContainerExplanation['lastExit'] {
  if (exit === undefined) return undefined;
  const { exitCode, reason, message, finishedMs } = exit;
  return { exitCode, reason, ...textOf('message', message), ...timeOf('finishedAt', finishedMs) };
}

function textOf<K extends string>(key: K, text: string | undefined): { readonly [P in K]?: string } {
  return text === undefined || text === '' ? {} : pair(key, text);
}

function timeOf<K extends string>(key: K, ms: number | undefined): { readonly [P in K]?: string } {
  return ms === undefined ? {} : pair(key, formatTime(ms));
}

function pair<K extends string>(key: K, value: string): { [P in K]?: string } {
  const made: { [P in K]?: string } = {};
  made[key] = value;
  return made;
}
