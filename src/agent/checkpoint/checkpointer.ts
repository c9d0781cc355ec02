import { join, resolve } from 'node:path';
import { checkName } from '../../api/index.ts';
import type { Clock, Logger } from '../../base/index.ts';
import { systemClock } from '../../base/index.ts';
import type { FoundContainer, Runtime } from '../runtime/index.ts';
import { createDumper } from './dump.ts';
import type { CheckpointError, Target } from './errors.ts';
import { failed, noContainer, noPod, timedOut, toCheckpointError } from './errors.ts';
import { keepRecovering } from './recover.ts';
import type { TimeLimit } from './time-limit.ts';
import { startTimeLimit } from './time-limit.ts';
import { createKeyedTurns, createTurns } from './turns.ts';

export interface CheckpointRequest extends Target {
  /** How long the runtime may take, waiting for a turn not counted; 0 or unset is the default of 2 minutes. */
  timeoutMs?: number;
  /** Aborts when the client goes away. */
  cancel: AbortSignal;
  /** Who asks, for the log. */
  requester: string;
}

export interface CheckpointerOptions {
  runtime: Pick<Runtime, 'find' | 'checkpoint' | 'thaw'>;
  /** The agent's base directory; archives go to `checkpoints` in it. */
  rootDir: string;
  log: Logger;
  clock?: Clock;
  /** For requests without a timeout; default 2 minutes (runtimeRequestTimeout). */
  defaultTimeoutMs?: number;
  /** How many containers of the node are checkpointed at a time; others wait. Default 2. */
  parallel?: number;
  /** How many requests may wait for the node's turn; more are refused. Default 100. */
  waiting?: number;
  /** How long close() waits for containers to be proven to run; their journals stay otherwise. Default 2.5 s. */
  closeMs?: number;
  /** How long run() holds back `ready` while it puts right what was left; default 5 s. */
  readyMs?: number;
  /** The root of the file system, for the id of the boot; default `/`. */
  root?: string;
}

/** Makes checkpoints of running containers (specification 4.11). */
export interface Checkpointer extends AsyncDisposable {
  /**
   * Writes a checkpoint of the container into the folder of checkpoints and answers its absolute path: a
   * complete, durable tar archive, mode 0600. Rejects with a CheckpointError. One at a time for each container,
   * the next one waits. The container runs on in any case; `stillFrozen` says that this is not proven yet. Until
   * it is, further checkpoints of that container are refused with the same reason.
   */
  checkpoint(request: CheckpointRequest): Promise<{ path: string }>;
  /**
   * Puts right what earlier checkpoints have left, at once and whenever one ends `stillFrozen`, trying again
   * for as long as the runtime is away. `ready` is called when what was left at the start has been tried, at once
   * when there is nothing, and after `readyMs` in any case. Runs until `signal` aborts, then closes. Only for one process at a
   * time on a folder: the holder of the agent's lock.
   */
  run(signal: AbortSignal, ready: () => void): Promise<void>;
}

const stillPending =
  'an earlier checkpoint may have left it frozen; the agent is trying to resume it, try again later';

export function createCheckpointer(options: CheckpointerOptions): Checkpointer {
  const { runtime, log, clock = systemClock, root = '/' } = options;
  const { defaultTimeoutMs = 120_000, parallel = 2, waiting = 100, closeMs = 2500, readyMs = 5000 } = options;
  const folder = resolve(join(options.rootDir, 'checkpoints'));
  const closing = new AbortController();
  const turns = createKeyedTurns();
  const slots = createTurns(parallel);
  const requests = new Set<Promise<unknown>>();
  const pending = new Map<string, string>();
  const dumper = createDumper({ runtime, folder, log, clock, root, pending });

  const takeTurn = ({ namespace, pod, container }: Target, cancel: AbortSignal): Promise<Disposable> =>
    turns.take(`${namespace}/${pod}/${container}`, cancel);

  async function serve(request: CheckpointRequest): Promise<{ path: string }> {
    const giveUp = AbortSignal.any([request.cancel, closing.signal]);
    using _turn = await takeTurn(request, giveUp);
    const timeoutMs = request.timeoutMs && request.timeoutMs > 0 ? request.timeoutMs : defaultTimeoutMs;
    const startedMs = clock.monotonicMs();
    using search = startTimeLimit(clock, timeoutMs);
    const found = await findRunning(runtime, request, search, giveUp);
    const usedMs = clock.monotonicMs() - startedMs;
    if ([...pending.values()].includes(found.id)) throw failed('stillFrozen', request, stillPending);
    using _slot = await slots.take(giveUp);
    using limit = startTimeLimit(clock, timeoutMs, usedMs);
    return await dumper.dump({ target: request, found, requester: request.requester, limit }, giveUp);
  }

  /** Why a request did not run to its end, when that was not the runtime's doing. */
  function givenUp(request: CheckpointRequest): CheckpointError | undefined {
    if (closing.signal.aborted) return failed('stopping', request, 'the agent is being stopped');
    if (request.cancel.aborted) return failed('cancelled', request, 'the client went away');
    return undefined;
  }

  async function checkpoint(request: CheckpointRequest): Promise<{ path: string }> {
    checkNames(request);
    if (requests.size >= parallel + waiting) {
      throw failed(
        'busy',
        request,
        `${requests.size} checkpoints are under way or wait already, try again later`,
      );
    }
    const served = serve(request);
    requests.add(served);
    try {
      return await served;
    } catch (error) {
      const told = toCheckpointError(error, request, givenUp(request));
      const { namespace, pod, container, requester } = request;
      log.warn({ namespace, pod, container, requester, reason: told.reason }, told.message);
      throw told;
    } finally {
      requests.delete(served);
    }
  }

  async function close(): Promise<void> {
    closing.abort();
    const done = new AbortController();
    await Promise.race([Promise.allSettled(requests), clock.sleep(closeMs, done.signal)]);
    done.abort();
  }

  return {
    checkpoint,
    async run(signal, ready) {
      const stop = AbortSignal.any([signal, closing.signal]);
      const { isActive, untilFrozen } = dumper;
      const tried = new AbortController();
      const started = clock.sleep(readyMs, AbortSignal.any([tried.signal, stop])).then(ready);
      const recover = { folder, runtime, log, clock, root, pending, isActive, takeTurn, untilFrozen };
      await keepRecovering(recover, stop, () => tried.abort());
      await started;
      await close();
    },
    [Symbol.asyncDispose]: close,
  };
}

/** A name that no object can have means an object that does not exist; and it never becomes part of a path. */
function checkNames(target: Target): void {
  if (checkName('label', target.namespace) ?? checkName('subdomain', target.pod)) throw noPod();
  if (checkName('label', target.container)) throw noContainer(target);
}

async function findRunning(
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
