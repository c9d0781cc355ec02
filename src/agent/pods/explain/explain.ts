import type { Pod } from '../../../api/index.ts';
import { formatTime } from '../../../api/index.ts';
import type { CurrentContent } from '../../volumes/index.ts';
import type { ContainerType, ExitRecord, Plan, PodOrigin, PodRecord, Stage, Wait } from '../plan/index.ts';
import { restartCountOf } from '../plan/index.ts';
import type { TypedContainer } from '../status/index.ts';
import { containersOf } from '../status/index.ts';
import type { ContainerView, PodView } from '../view/types.ts';
import { findReason } from './reasons.ts';
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
  /** By container name: why one that runs has not started, or is not ready. */
  readonly probeWaits?: ReadonlyMap<string, Wait>;
  /** By container name: what the pod's status says; one that is not in it has no status yet. */
  readonly ready?: ReadonlyMap<string, boolean>;
  /** What the files of its volumes are made of. */
  readonly contents?: readonly CurrentContent[];
  /** What its status says; default: that of the pod. */
  readonly phase?: string;
}

/** Fields are only ever added. Times are RFC 3339. */
export interface PodExplanation {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly origin: PodOrigin;
  readonly phase: string;
  readonly stage: Stage;
  readonly waitsFor?: WaitExplanation;
  /** That it ends, and why. */
  readonly ends?: {
    readonly cause: string;
    readonly reason?: string;
    readonly message?: string;
    readonly advice?: string;
  };
  readonly containers: readonly ContainerExplanation[];
  /** What volumes show that the agent fills, by their names; absent where there is none. */
  readonly volumes?: readonly VolumeExplanation[];
  /** Where one pod is asked for; absent where there is none. */
  readonly fullDisks?: readonly FullDisk[];
  /** Where one pod is asked for: what the node is short of; absent where it is short of nothing. */
  readonly pressures?: readonly NodePressure[];
  readonly timeline: readonly { readonly time: string; readonly what: string; readonly count: number }[];
}

/** A disk of the node to which nothing can be written any more, so that volumes, images or logs of pods cannot be, too. */
export interface FullDisk {
  /** What is on it, for people. */
  readonly what: string;
  /** Its file system, the room on it, and which pods fill it most. */
  readonly found: string;
  readonly advice?: string;
}

/** That the node is short of something: pods are refused and evicted for it. */
export interface NodePressure {
  readonly condition: string;
  readonly since: string;
  /** What is short, and how much is to stay free. */
  readonly found: string;
  /** What was done last to free something. */
  readonly last?: { readonly time: string; readonly what: string };
}

interface VolumeExplanation {
  readonly name: string;
  /** Such as `configmap default/app version 7`. */
  readonly shows: string;
  /** Since when its files are as they are. */
  readonly since?: string;
  /** Why something newer could not be written; it is tried again. */
  readonly problem?: string;
}

interface WaitExplanation {
  readonly reason: string;
  readonly message: string;
  readonly since?: string;
  /** When it is tried next by itself; without it, as soon as what it waits for changes. */
  readonly next?: string;
  /** What a person can do, for people. */
  readonly advice?: string;
}

export interface ContainerExplanation {
  readonly name: string;
  readonly type: ContainerType;
  readonly state: 'waiting' | 'created' | 'running' | 'ended' | 'unknown';
  readonly reason?: string;
  readonly message?: string;
  readonly since?: string;
  /** Absent where it has no status yet. */
  readonly ready?: boolean;
  readonly restarts: number;
  readonly next?: string;
  readonly advice?: string;
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
      : {
          ends: {
            ...{ cause, ...textOf('reason', reason), ...textOf('message', message) },
            ...adviceFor(reason),
          },
        }),
    containers: containersOf(pod).map((container) => explainContainer(container, input)),
    ...explainVolumes(input.contents),
    timeline: timeline.map(({ atMs, what, count }) => ({ time: formatTime(atMs), what, count })),
  };
}

function explainVolumes(volumes: readonly CurrentContent[] = []): Pick<PodExplanation, 'volumes'> {
  if (volumes.length === 0) return {};
  const explained = volumes.map(({ volume, shows, sinceMs, problem }) => ({
    ...{ name: volume, shows },
    ...timeOf('since', sinceMs),
    ...textOf('problem', problem),
  }));
  return { volumes: explained };
}

/** Reasons of containers that are on their way; others say more. */
const onTheWay: ReadonlySet<string> = new Set(['ContainerCreating', 'PodInitializing']);

/**
 * What says most of why the pod does not run: what it waits for as a whole, else the first of its containers that waits. One
 * that something is wrong with goes before what is on its way.
 */
export function findMainWait({ wait, waits }: Pick<Plan, 'wait' | 'waits'>): {
  readonly wait: Wait | undefined;
  /** Undefined: the pod as a whole. */
  readonly container?: string | undefined;
} {
  if (wait !== undefined && !onTheWay.has(wait.reason)) return { wait };
  const troubled = waits.entries().find(([, { reason }]) => !onTheWay.has(reason));
  if (troubled === undefined && wait !== undefined) return { wait };
  const [container, ofContainer] = troubled ?? [...waits][0] ?? [];
  return { wait: ofContainer, container };
}

function explainWait({
  plan,
  waitsSinceMs,
  probeWaits = new Map(),
}: ExplainInput): WaitExplanation | undefined {
  const { wait, container } = findMainWait({ ...plan, waits: new Map([...plan.waits, ...probeWaits]) });
  // of an ended pod no container waits for anything: it has been said why it ended
  if (wait === undefined || (plan.stage === 'ended' && container !== undefined)) return undefined;
  const text = wait.message || wait.reason;
  const message = container === undefined ? wait.message : `container ${container}: ${text}`;
  return {
    ...{ reason: wait.reason, message },
    ...timeOf('since', waitsSinceMs?.get(container ?? '')),
    ...timeOf('next', wait.untilMs),
    ...adviceFor(wait.reason),
  };
}

function explainContainer({ type, spec }: TypedContainer, input: ExplainInput): ContainerExplanation {
  const { plan, record, view, waitsSinceMs, probeWaits } = input;
  const views = view?.containers.filter(({ name }) => name === spec.name) ?? [];
  const known = record.containers[spec.name];
  const current = views[0] ?? endOfRecord(known?.lastExit);
  const wait = plan.waits.get(spec.name);
  const exit = views.find(({ state }) => state === 'exited');
  const lastExit = exit === undefined ? exitOfRecord(known?.lastExit) : exitOfView(exit);
  const failures = known?.failure?.count ?? 0;
  const ready = input.ready?.get(spec.name);
  const state = {
    ...stateOf(current, wait ?? known?.failure, plan),
    ...probeTextOf(current, probeWaits?.get(spec.name)),
  };
  return {
    ...{ name: spec.name, type },
    ...state,
    ...adviceFor(state.reason),
    ...timeOf('since', sinceOf(current, wait, waitsSinceMs?.get(spec.name))),
    ...(ready === undefined ? {} : { ready }),
    restarts:
      views[0] === undefined
        ? (known?.made?.restartCount ?? known?.lastExit?.attempt ?? 0)
        : restartCountOf(views[0]),
    ...(current?.state === 'running' ? {} : timeOf('next', wait?.untilMs)),
    ...(lastExit === undefined ? {} : { lastExit }),
    ...(failures === 0 ? {} : { failedStarts: failures }),
    image: spec.image ?? '',
  };
}

type KnownState = Pick<ContainerView, 'state' | 'reason' | 'message' | 'startedMs' | 'finishedMs'>;

/** One that the runtime has forgotten; undefined where its end says nothing of what follows. */
function endOfRecord(exit: ExitRecord | undefined): KnownState | undefined {
  return exit === undefined || exit.isHistory === true ? undefined : { ...exit, state: 'exited' };
}

/** For a container that is not planned for yet, or not any more. */
function waitOfPod({ wait, stage }: Plan): Wait {
  const isOver = stage === 'ended';
  const message = isOver ? 'it was never started: the pod has ended' : 'nothing is planned for it yet';
  return wait ?? { reason: 'ContainerCreating', message };
}

const adviceFor = (reason: string | undefined) => textOf('advice', findReason(reason ?? '')?.advice);

function stateOf(
  current: KnownState | undefined,
  wait: Pick<Wait, 'reason' | 'message'> | undefined,
  plan: Plan,
): Pick<ContainerExplanation, 'state' | 'reason' | 'message'> {
  if (current?.state === 'running') return { state: 'running' };
  const why = wait ?? (current === undefined ? waitOfPod(plan) : undefined);
  if (why !== undefined)
    return { state: 'waiting', ...textOf('reason', why.reason), ...textOf('message', why.message) };
  if (current === undefined) return { state: 'waiting' };
  const state = current.state === 'exited' ? 'ended' : current.state;
  return { state, ...textOf('reason', current.reason), ...textOf('message', current.message) };
}

function probeTextOf(
  current: KnownState | undefined,
  wait: Wait | undefined,
): Pick<ContainerExplanation, 'reason' | 'message'> {
  if (current?.state !== 'running' || wait === undefined) return {};
  return { reason: wait.reason, message: wait.message };
}

function sinceOf(
  current: KnownState | undefined,
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
