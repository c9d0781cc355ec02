import { describeError, ReasonError } from '../../base/index.ts';
import { RuntimeError } from '../runtime/index.ts';

/**
 * Why no checkpoint was made. `noPod` and `noContainer` mean 404, `conflict` 409, everything else 500.
 * - `notRunning`: the container has not started yet or has ended.
 * - `unimplemented`, `unavailable`, `failed`: the runtime's own failure, see RuntimeFailure.
 * - `timeout`: it took longer than the request allows. `cancelled`: the client went away.
 * - `storage`: the folder or the archive cannot be used. `busy`: too many requests are waiting already.
 * - `noRoom`: a disk has not enough free space; nothing was begun. `conflict`: another checkpoint of the container is
 *   under way, and the configuration says not to wait for it.
 * - `stopping`: the agent is being stopped.
 * - `stillFrozen`: after this checkpoint or an earlier one the container could not be proven to run; the agent keeps
 *   trying to resume it.
 */
export type CheckpointFailure =
  | 'noPod'
  | 'noContainer'
  | 'notRunning'
  | 'unimplemented'
  | 'unavailable'
  | 'failed'
  | 'timeout'
  | 'cancelled'
  | 'storage'
  | 'busy'
  | 'noRoom'
  | 'conflict'
  | 'stopping'
  | 'stillFrozen';

/** A checkpoint that was not made. `message` is complete and may be sent to the client as it is. */
export class CheckpointError extends ReasonError<CheckpointFailure> {
  override readonly name = 'CheckpointError';
}

/** A container as requests name it. */
export interface Target {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** The target for all running containers of a pod: its container is empty. */
export function toPodTarget(namespace: string, pod: string): Target {
  return { namespace, pod, container: '' };
}

export function formatTarget({ namespace, pod, container }: Target): string {
  return container === '' ? `${namespace}/${pod}` : `${namespace}/${pod}/${container}`;
}

export function createNoPodError(): CheckpointError {
  return new CheckpointError('noPod', 'pod does not exist');
}

export function createNoContainerError({ container }: Target): CheckpointError {
  return new CheckpointError('noContainer', `container ${container} does not exist`);
}

export function createFailure(
  reason: CheckpointFailure,
  target: Target,
  why: string,
  cause?: unknown,
): CheckpointError {
  const message = `checkpointing of ${formatTarget(target)} failed (${why})`;
  return new CheckpointError(reason, message, { cause });
}

export function createTimeoutError(target: Target, seconds: number, cause: unknown): CheckpointError {
  return createFailure('timeout', target, `timed out after ${seconds} s`, cause);
}

/** `givenUp` says why this side gave up, if it did: it is the cause of the other errors, so it is reported instead. */
export function toCheckpointError(
  error: unknown,
  target: Target,
  givenUp: CheckpointError | undefined,
): CheckpointError {
  if (error instanceof CheckpointError) return error;
  if (givenUp && !(error instanceof RuntimeError && error.reason === 'stillFrozen')) return givenUp;
  if (!(error instanceof RuntimeError)) return createFailure('storage', target, describeError(error), error);
  switch (error.reason) {
    case 'notFound':
      return createNoContainerError(target);
    case 'cancelled':
      return createFailure('cancelled', target, 'cancelled', error);
    case 'timeout':
      return createFailure(
        'unavailable',
        target,
        `the container runtime does not answer: ${error.message}`,
        error,
      );
    case 'unimplemented':
      return createFailure(
        'unimplemented',
        target,
        `the container runtime cannot checkpoint: ${error.message}`,
        error,
      );
    case 'unavailable':
      return createFailure(
        'unavailable',
        target,
        `the container runtime is not available: ${error.message}`,
        error,
      );
    default:
      return createFailure(error.reason, target, error.message, error);
  }
}
