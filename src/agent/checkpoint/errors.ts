import { describeError, ReasonError } from '../../base/index.ts';
import { RuntimeError } from '../runtime/index.ts';

/**
 * Why there is no checkpoint. `noPod` and `noContainer` mean 404, `conflict` 409, everything else 500.
 * - `notRunning`: the container has not started yet or has ended.
 * - `unimplemented`, `unavailable`, `failed`: what the runtime said, see RuntimeFailure.
 * - `timeout`: it took longer than the request allows. `cancelled`: the client went away.
 * - `storage`: the folder or the archive cannot be used. `busy`: too many requests wait already.
 * - `noRoom`: a disk has not enough room; nothing was begun. `conflict`: another one of the container is under way, and
 *   the configuration says not to wait for it.
 * - `stopping`: the agent is being stopped.
 * - `stillFrozen`: the container could not be proven to run afterwards, or after an earlier checkpoint; the agent
 *   keeps trying.
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

/** A checkpoint that was not made. `message` is complete and may be shown to the client as it stands. */
export class CheckpointError extends ReasonError<CheckpointFailure> {
  override readonly name = 'CheckpointError';
}

/** Names of a container as requests have them. */
export interface Target {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

/** All running containers of a pod: a target without a container. */
export function wholePod(namespace: string, pod: string): Target {
  return { namespace, pod, container: '' };
}

export function shownTarget({ namespace, pod, container }: Target): string {
  return container === '' ? `${namespace}/${pod}` : `${namespace}/${pod}/${container}`;
}

export function noPod(): CheckpointError {
  return new CheckpointError('noPod', 'pod does not exist');
}

export function noContainer({ container }: Target): CheckpointError {
  return new CheckpointError('noContainer', `container ${container} does not exist`);
}

export function failed(
  reason: CheckpointFailure,
  target: Target,
  why: string,
  cause?: unknown,
): CheckpointError {
  const message = `checkpointing of ${shownTarget(target)} failed (${why})`;
  return new CheckpointError(reason, message, { cause });
}

export function timedOut(target: Target, seconds: number, cause: unknown): CheckpointError {
  return failed('timeout', target, `timed out after ${seconds} s`, cause);
}

/** `givenUp` says why this side gave up, if it did: that comes before what followed from it. */
export function toCheckpointError(
  error: unknown,
  target: Target,
  givenUp: CheckpointError | undefined,
): CheckpointError {
  if (error instanceof CheckpointError) return error;
  if (givenUp && !(error instanceof RuntimeError && error.reason === 'stillFrozen')) return givenUp;
  if (!(error instanceof RuntimeError)) return failed('storage', target, describeError(error), error);
  switch (error.reason) {
    case 'notFound':
      return noContainer(target);
    case 'cancelled':
      return failed('cancelled', target, 'cancelled', error);
    case 'timeout':
      return failed('unavailable', target, `the container runtime does not answer: ${error.message}`, error);
    case 'unimplemented':
      return failed(
        'unimplemented',
        target,
        `the container runtime cannot checkpoint: ${error.message}`,
        error,
      );
    case 'unavailable':
      return failed('unavailable', target, `the container runtime is not available: ${error.message}`, error);
    default:
      return failed(error.reason, target, error.message, error);
  }
}
