import { checkName } from '../../../api/index.ts';
import type { FoundContainer, Runtime } from '../../runtime/index.ts';
import type { Target } from '../errors.ts';
import { createFailure, createNoContainerError, createNoPodError, createTimeoutError } from '../errors.ts';
import type { TimeLimit } from './time-limit.ts';

/** Throws for a name that no object can have: such an object does not exist, and the name must not become part of a path. */
export function checkNames(target: Target): void {
  if (checkName('label', target.namespace) ?? checkName('subdomain', target.pod)) throw createNoPodError();
  if (checkName('label', target.container)) throw createNoContainerError(target);
}

/** The container, if the runtime does not report it as not running; rejects with a CheckpointError. */
export async function findRunning(
  runtime: Pick<Runtime, 'find'>,
  target: Target,
  limit: TimeLimit,
  cancel: AbortSignal,
): Promise<FoundContainer> {
  const found = await findInTime(runtime, target, limit, cancel);
  if (found === 'noPod') throw createNoPodError();
  if (found === 'noContainer') throw createNoContainerError(target);
  if (found.state === 'running' || found.state === 'unknown') return found;
  throw createFailure(
    'notRunning',
    target,
    found.state === 'created' ? 'it has not started yet' : 'it has ended',
  );
}

async function findInTime(
  runtime: Pick<Runtime, 'find'>,
  target: Target,
  limit: TimeLimit,
  cancel: AbortSignal,
): ReturnType<Runtime['find']> {
  const { namespace, pod, container } = target;
  try {
    return await runtime.find(namespace, pod, container, AbortSignal.any([cancel, limit.expired]));
  } catch (error) {
    if (!limit.expired.aborted || cancel.aborted) throw error;
    throw createTimeoutError(target, limit.seconds, error);
  }
}
