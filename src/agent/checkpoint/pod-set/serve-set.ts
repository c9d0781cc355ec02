import { checkName } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import type { FoundMember, Runtime } from '../../runtime/index.ts';
import type { TimeLimit } from '../dump/time-limit.ts';
import { startTimeLimit } from '../dump/time-limit.ts';
import type { Target } from '../errors.ts';
import { createFailure, createNoPodError, createTimeoutError, toPodTarget } from '../errors.ts';
import type { SetDumper } from './dump-set.ts';
import type { MadeSet } from './publish-set.ts';

export interface PodCheckpointRequest {
  readonly namespace: string;
  readonly pod: string;
  /** For everything that the runtime does; waiting for other checkpoints is not counted. 0 or unset: the default. */
  readonly timeoutMs?: number;
  /** Aborts when the client goes away. */
  readonly cancel: AbortSignal;
  /** Aborts when the agent stops, which aborts `cancel`, too. */
  readonly stopping?: AbortSignal;
  /** Who asks, for the log. */
  readonly requester: string;
}

interface SetServiceOptions {
  runtime: Pick<Runtime, 'findPod'>;
  dumper: Pick<SetDumper, 'dump'>;
  clock: Clock;
  defaultTimeoutMs: number;
  /** One checkpoint of a container at a time. */
  lockContainer(target: Target, cancel: AbortSignal): Promise<Disposable>;
  /** The limit of checkpoints on the node at a time. */
  acquireSlot(cancel: AbortSignal): Promise<Disposable>;
  /** Throws when another checkpoint of the container is under way and the configuration says not to wait for it. */
  refuseConflict(target: Target): void;
  /** Throws when the container may still be frozen by an earlier checkpoint. */
  refuseIfFrozen(target: Target, id: string): void;
}

/** Waits for other checkpoints of the same containers and for a slot, and makes the set; see `Checkpointer.checkpointPod`. */
export async function serveSet(
  options: SetServiceOptions,
  { namespace, pod, requester, timeoutMs }: PodCheckpointRequest,
  giveUp: AbortSignal,
): Promise<MadeSet> {
  if (checkName('label', namespace) ?? checkName('subdomain', pod)) throw createNoPodError();
  const { clock, lockContainer, acquireSlot, dumper } = options;
  const target = toPodTarget(namespace, pod);
  const limitMs = timeoutMs && timeoutMs > 0 ? timeoutMs : options.defaultTimeoutMs;
  using search = startTimeLimit(clock, limitMs);
  const before = await findMembers(options, target, search, giveUp);
  for (const { name } of before) options.refuseConflict({ namespace, pod, container: name });
  using locks = new DisposableStack();
  // every request locks in the same order, so no two can wait for each other
  for (const container of before.map(({ name }) => name).sort()) {
    locks.use(await lockContainer({ namespace, pod, container }, giveUp));
  }
  const startedMs = clock.monotonicMs();
  using again = startTimeLimit(clock, limitMs); // the containers may have changed while it waited
  const found = await findMembers(options, target, again, giveUp);
  requireSame(target, before, found);
  const usedMs = clock.monotonicMs() - startedMs;
  const members = found.map(({ name, ...each }) => ({
    target: { namespace, pod, container: name },
    found: each,
    requester,
  }));
  for (const member of members) options.refuseIfFrozen(member.target, member.found.id);
  using _slot = await acquireSlot(giveUp);
  using limit = startTimeLimit(clock, limitMs, usedMs);
  return await dumper.dump({ namespace, pod, members, requester, limit }, giveUp);
}

async function findMembers(
  { runtime }: SetServiceOptions,
  target: Target,
  limit: TimeLimit,
  cancel: AbortSignal,
): Promise<readonly FoundMember[]> {
  const found = await runtime
    .findPod(target.namespace, target.pod, AbortSignal.any([cancel, limit.expired]))
    .catch((error: unknown): never => {
      if (!limit.expired.aborted || cancel.aborted) throw error;
      throw createTimeoutError(target, limit.seconds, error);
    });
  if (found === 'noPod') throw createNoPodError();
  if (found.length === 0) throw createFailure('notRunning', target, 'none of its containers runs');
  return found;
}

/** Only the containers of `before` are locked. */
function requireSame(target: Target, before: readonly FoundMember[], now: readonly FoundMember[]): void {
  const names = new Set(before.map(({ name }) => name));
  const added = now.find(({ name }) => !names.has(name));
  if (added === undefined) return;
  throw createFailure('failed', target, `container ${added.name} was started meanwhile, try again`);
}
