import type { Pod } from '../../../api/index.ts';
import { formatTime } from '../../../api/index.ts';
import { canRestartAll } from '../plan/index.ts';
import type { Phase } from './phase.ts';
import { hasRun } from './phase.ts';
import type { ContainerStatus, PodCondition, TypedContainer } from './pod-parts.ts';
import { findCondition, initContainersOf, regularContainersOf } from './pod-parts.ts';

/** The conditions that an agent decides alone; all others are kept as they are. */
export const ownConditions: ReadonlySet<string> = new Set([
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
  'AllContainersRestarting',
  'PodResizePending',
  'PodResizeInProgress',
]);

/** Those that are there only while they are true. */
export const passingConditions: ReadonlySet<string> = new Set(['PodResizePending', 'PodResizeInProgress']);

export interface ConditionsInput {
  readonly pod: Pod;
  readonly phase: Phase;
  /** Of init containers, sidecars and regular containers; undefined: nothing is known of them, for the pod was refused. */
  readonly statuses: readonly ContainerStatus[] | undefined;
  /** Whether it has a sandbox with a network. */
  readonly hasSandbox: boolean;
  /** Whether a rule has begun to restart all containers, and they are not all removed yet. */
  readonly isRestartingAll: boolean;
  /** That it is not given yet, or not in full, what its spec asks for. */
  readonly resize?: {
    readonly pending: Pick<PodCondition, 'reason' | 'message'> | undefined;
    /** That it is carried out; with why that has failed. */
    readonly progress: { readonly error?: string } | undefined;
  };
  /** Why it waits as a whole; for conditions that would say nothing. */
  readonly why: string;
  /** That the node ends it, once that is final. */
  readonly disruption: { readonly message: string } | undefined;
  /** As the API has them, with those of others. */
  readonly others: readonly PodCondition[];
  /** For the times of transitions. */
  readonly before: readonly PodCondition[];
  readonly nowMs: number;
}

type Verdict = Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>;

/** Those of others first, then the agent's own. */
export function conditionsOf(input: ConditionsInput): PodCondition[] {
  const { disruption, others, pod } = input;
  const kept = others.filter(
    ({ type }) => !ownConditions.has(type) && !(disruption !== undefined && type === disruptionTarget),
  );
  const containersReady = containersReadyOf(input);
  const verdicts: Verdict[] = [
    ...(disruption === undefined
      ? []
      : [{ type: disruptionTarget, status: 'True', reason: disruptedReason, message: disruption.message }]),
    sandboxVerdict(input),
    initializedOf(input),
    readyOf(containersReady, pod, others),
    containersReady,
    { type: 'PodScheduled', status: 'True' },
    ...restartOfAll(input),
    ...resizeVerdicts(input),
  ];
  return [...kept, ...verdicts.map((verdict) => toCondition(verdict, input))];
}

/** As the reference, only of pods that have such a rule. */
function restartOfAll({ pod, phase, isRestartingAll }: ConditionsInput): Verdict[] {
  if (!canRestartAll([...initContainersOf(pod), ...regularContainersOf(pod)])) return [];
  const type = 'AllContainersRestarting';
  if (phase === 'Succeeded') return [{ type, status: 'False', reason: 'PodCompleted' }];
  if (phase === 'Failed') return [{ type, status: 'False', reason: 'PodFailed' }];
  if (!isRestartingAll) return [{ type, status: 'False' }];
  const message = 'container exited with restart policy rule';
  return [{ type, status: 'True', reason: 'RestartAllContainersStarted', message }];
}

function resizeVerdicts({ resize, phase }: ConditionsInput): Verdict[] {
  const { pending, progress } = resize ?? {};
  if (phase === 'Succeeded' || phase === 'Failed') return [];
  const { error } = progress ?? {};
  return [
    ...(pending === undefined ? [] : [{ ...pending, type: 'PodResizePending', status: 'True' }]),
    ...(progress === undefined
      ? []
      : [
          {
            ...{ type: 'PodResizeInProgress', status: 'True' },
            ...(error === undefined ? {} : { reason: 'Error', message: error }),
          },
        ]),
  ];
}

const disruptionTarget = 'DisruptionTarget';
const disruptedReason = 'TerminationByKubelet';

function toCondition(verdict: Verdict, { pod, before, nowMs }: ConditionsInput): PodCondition {
  const earlier = findCondition(before, verdict.type);
  const since = earlier?.status === verdict.status ? earlier.lastTransitionTime : undefined;
  const generation = pod.metadata?.generation;
  return {
    ...verdict,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    lastTransitionTime: since ?? formatTime(nowMs),
  };
}

function sandboxVerdict({ hasSandbox, why }: ConditionsInput): Verdict {
  const type = 'PodReadyToStartContainers';
  if (hasSandbox) return { type, status: 'True' };
  return { type, status: 'False', ...(why === '' ? {} : { message: why }) };
}

const statusesUnknown = 'UnknownContainerStatuses';

function initializedOf({ pod, phase, statuses, why }: ConditionsInput): Verdict {
  const type = 'Initialized';
  const inits = initContainersOf(pod);
  if (statuses === undefined && inits.length > 0)
    return { type, status: 'False', reason: statusesUnknown, ...(why === '' ? {} : { message: why }) };
  const sorted = sortOut(inits, statuses ?? [], ({ type: kind }, status) =>
    kind === 'sidecar' ? status.started === true : status.ready,
  );
  if (phase === 'Succeeded' && sorted.unknown.length === 0)
    return { type, status: 'True', reason: 'PodCompleted' };
  const names = regularContainersOf(pod).map(({ spec }) => spec.name);
  if (statuses?.some((status) => names.includes(status.name) && hasRun(status)))
    return { type, status: 'True' };
  const message = describe(sorted, 'incomplete');
  return message === ''
    ? { type, status: 'True' }
    : { type, status: 'False', reason: 'ContainersNotInitialized', message };
}

function containersReadyOf({ pod, phase, statuses, why }: ConditionsInput): Verdict {
  const no = (reason: string, message = '') => ({
    type: 'ContainersReady',
    status: 'False',
    reason,
    ...(message === '' ? {} : { message }),
  });
  if (statuses === undefined) return no(phase === 'Failed' ? 'PodFailed' : statusesUnknown, why);
  const lasting = [
    ...initContainersOf(pod).filter(({ type }) => type === 'sidecar'),
    ...regularContainersOf(pod),
  ];
  const sorted = sortOut(lasting, statuses, (_container, { ready }) => ready);
  if (phase === 'Succeeded' && sorted.unknown.length === 0) return no('PodCompleted');
  if (phase === 'Failed') return no('PodFailed');
  const message = describe(sorted, 'unready');
  return message === '' ? { type: 'ContainersReady', status: 'True' } : no('ContainersNotReady', message);
}

interface Sorted {
  readonly unknown: readonly string[];
  readonly lacking: readonly string[];
}

function sortOut(
  containers: readonly TypedContainer[],
  statuses: readonly ContainerStatus[],
  isGood: (container: TypedContainer, status: ContainerStatus) => boolean,
): Sorted {
  const unknown: string[] = [];
  const lacking: string[] = [];
  for (const container of containers) {
    const { name } = container.spec;
    const status = statuses.find((each) => each.name === name);
    if (status === undefined) unknown.push(name);
    else if (!isGood(container, status)) lacking.push(name);
  }
  return { unknown, lacking };
}

function describe({ unknown, lacking }: Sorted, what: string): string {
  return [
    ...(unknown.length === 0 ? [] : [`containers with unknown status: [${unknown.join(' ')}]`]),
    ...(lacking.length === 0 ? [] : [`containers with ${what} status: [${lacking.join(' ')}]`]),
  ].join(', ');
}

/** Ready is what ContainersReady is, and the conditions that the pod names as gates. */
function readyOf(containersReady: Verdict, { spec }: Pod, conditions: readonly PodCondition[]): Verdict {
  const type = 'Ready';
  if (containersReady.status !== 'True') return { ...containersReady, type };
  const closed = (spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = findCondition(conditions, conditionType);
    const gate = `pod readiness gate ${JSON.stringify(conditionType)}`;
    if (condition === undefined) return [`corresponding condition of ${gate} does not exist.`];
    return condition.status === 'True'
      ? []
      : [`the status of ${gate} is not "True", but ${condition.status}`];
  });
  if (closed.length === 0) return { type, status: 'True' };
  return { type, status: 'False', reason: 'ReadinessGatesNotReady', message: closed.join(', ') };
}
