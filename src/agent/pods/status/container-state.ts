import { formatTime } from '../../../api/index.ts';
import type { ExitRecord } from '../plan/index.ts';
import { restartingAll } from '../plan/index.ts';
import type { ContainerView } from '../view/types.ts';
import type { ContainerState, Terminated } from './pod-parts.ts';

export const lostReason = 'ContainerStatusUnknown';
const lostExitCode = 137;

/** Of one whose end nobody has seen: it counts as failed. */
export function lostState(message: string): Terminated {
  return { exitCode: lostExitCode, reason: lostReason, message };
}

export const lostAtEnd = 'The container could not be located when the pod was terminated';
export const lostBefore =
  'The container could not be located when the pod was deleted.  The container used to be Running';

export interface EndTexts {
  readonly runtimeName: string;
  readonly messages: ReadonlyMap<string, string>;
}

/** How a container ended that the runtime still has. */
export function endOfView(view: ContainerView, texts: EndTexts): Terminated {
  const message = [view.message, texts.messages.get(view.id) ?? ''].filter((part) => part !== '').join(': ');
  return {
    exitCode: view.exitCode,
    reason: view.reason || (view.exitCode === 0 ? 'Completed' : 'Error'),
    ...(message === '' ? {} : { message }),
    ...timesOf(view.startedMs, view.finishedMs),
    containerID: idOf(texts.runtimeName, view.id),
  };
}

/** The reference's word for a container that was removed so that all of the pod start again. */
export const removedForRestart = 'The container is removed because RestartAllContainers in place';

/**
 * How one ended that the runtime has forgotten. When it was removed so that all of the pod start again, that counts as its end,
 * however it ended before.
 */
export function endOfRecord(exit: ExitRecord, runtimeName: string): Terminated {
  const end = {
    exitCode: exit.exitCode,
    reason: exit.reason || (exit.exitCode === 0 ? 'Completed' : 'Error'),
    ...(exit.message === '' ? {} : { message: exit.message }),
  };
  const removal = { exitCode: lostExitCode, reason: restartingAll, message: removedForRestart };
  return {
    ...(exit.isHistory === true ? removal : end),
    ...timesOf(exit.startedMs, exit.finishedMs),
    ...(exit.id === '' ? {} : { containerID: idOf(runtimeName, exit.id) }),
  };
}

export function runningState({ startedMs }: ContainerView): ContainerState {
  return { running: startedMs === undefined ? {} : { startedAt: formatTime(startedMs) } };
}

export function idOf(runtimeName: string, id: string): string {
  return `${runtimeName}://${id}`;
}

function timesOf(startedMs: number | undefined, finishedMs: number | undefined) {
  return {
    ...(startedMs === undefined ? {} : { startedAt: formatTime(startedMs) }),
    ...(finishedMs === undefined ? {} : { finishedAt: formatTime(finishedMs) }),
  };
}
