import { checkName } from '../../../api/index.ts';
import type { FoundContainer, Runtime } from '../../runtime/index.ts';
import type { Target } from '../errors.ts';
import { failed, noContainer, noPod, timedOut } from '../errors.ts';
import type { TimeLimit } from './time-limit.ts';

/** A name that no object can have means an object that does not exist; and it never becomes part of a path. */
export function checkNames(target: Target): void {
  if (checkName('label', target.namespace) ?? checkName('subdomain', target.pod)) throw noPod();
  if (checkName('label', target.container)) throw noContainer(target);
}

/** The container that is meant, which runs as far as the runtime knows; rejects with a CheckpointError. */
export async function findRunning(
  runtime: Pick<Runtime, 'find'>,
  target: Target,
  limit: TimeLimit,
  cancel: AbortSignal,
): Promise<FoundContainer> {
  const found = await find(runtime, target, limit, cancel);
  if (found === 'noPod') throw noPod();
  if (found === 'noContainer') throw noContainer(target);
  if (found.state === 'running' || found.state === 'unknown') return found;
  throw failed('notRunning', target, found.state === 'created' ? 'it has not started yet' : 'it has ended');
}

async function find(
  runtime: Pick<Runtime, 'find'>,
  target: Target,
  limit: TimeLimit,
  cancel: AbortSignal,
): ReturnType<Runtime['find']> {
  const { namespace, pod, container } = target;
  try {
    return await runtime.find(namespace, pod, container, AbortSignal.any([cancel, limit.over]));
  } catch (error) {
    if (!limit.over.aborted || cancel.aborted) throw error;
    throw timedOut(target, limit.seconds, error);
  }
}
