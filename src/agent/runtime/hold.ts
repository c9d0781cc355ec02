/**
 * Freezes containers together, so that their dumps are of one moment.
 *
 *     freeze a, freeze b, …      through containerd's own service; each takes some ten milliseconds
 *     checkpoint a, …            containerd dumps a task that is already frozen as it is, and leaves it frozen
 *     release                    resumes …, b, a, and proves that they run
 *
 * Only this process resumes them, whatever happens to the calls in between: containerd resumes only what it has paused
 * itself. Observed with containerd 2.1: a workload makes no progress between freezing and release.
 */
import { describeError } from '../../base/index.ts';
import type { CheckpointParts } from './checkpoint.ts';
import { callCheckpoint, requireRunning } from './checkpoint.ts';
import { RuntimeError } from './errors.ts';
import type { PauseWatch } from './pause-watch.ts';
import { watchPause } from './pause-watch.ts';
import type { Ending } from './thaw.ts';
import type { Hold, Released } from './types.ts';

export interface HoldParts extends CheckpointParts {
  /** Through containerd's own service; rejects on other runtimes. */
  pause(id: string, cancel: AbortSignal): Promise<void>;
  resume(id: string): Promise<void>;
}

interface Member {
  readonly id: string;
  readonly watch: PauseWatch;
  /** `answered`: all calls have ended, and the container is frozen by this process. */
  ending: Ending;
}

/** See `Runtime.hold`. */
export function holdContainers(parts: HoldParts): Hold {
  const members = new Map<string, Member>();

  function memberOf(id: string): Member {
    const member = members.get(id);
    if (member === undefined) throw new RuntimeError('failed', `container ${id} has not been frozen`);
    return member;
  }

  async function requireFrozen(id: string): Promise<void> {
    const state = await parts.task(id);
    if (state === 'paused') return;
    throw new RuntimeError('failed', `container ${id} did not stand still, its task is ${state}`);
  }

  return {
    async freeze(id, cancel, pid) {
      await requireRunning(parts, id);
      const freezer = pid === undefined ? undefined : await parts.openFreezer(pid);
      const member: Member = { id, watch: watchPause(freezer, parts.clock), ending: 'abandoned' };
      members.set(id, member);
      await parts.pause(id, cancel);
      await requireFrozen(id);
      member.ending = 'answered';
    },
    async checkpoint(id, file, cancel) {
      const member = memberOf(id);
      await requireFrozen(id);
      member.ending = 'abandoned';
      const failure = await callCheckpoint(parts.connection, id, file, cancel);
      if (failure !== undefined) throw failure;
      await requireFrozen(id);
      member.ending = 'answered';
    },
    async release() {
      const frozen = [...members.values()].reverse();
      members.clear();
      const resumed = await resumeAll(parts, frozen);
      const released = await Promise.all(
        frozen.map(async (member) => {
          const isCertain = resumed.has(member.id) && member.ending === 'answered';
          return [
            member.id,
            await proveReleased(parts, member, isCertain ? 'answered' : 'abandoned'),
          ] as const;
        }),
      );
      return new Map(released);
    },
  };
}

/** Resumes one after the other until the runtime fails; the proof that follows tries again with the rest. */
async function resumeAll({ resume }: HoldParts, members: readonly Member[]): Promise<Set<string>> {
  const resumed = new Set<string>();
  for (const { id } of members) {
    try {
      await resume(id);
      resumed.add(id);
    } catch (error) {
      if (error instanceof RuntimeError && (error.reason === 'failed' || error.reason === 'notFound'))
        continue;
      break; // the runtime is gone or hangs: each further call would take its whole timeout
    }
  }
  return resumed;
}

async function proveReleased({ prove }: HoldParts, { id, watch }: Member, ending: Ending): Promise<Released> {
  await using pause = watch;
  try {
    const thawed = await prove(id, ending);
    return { thawed, pausedMs: pause.pausedMs() };
  } catch (error) {
    const problem =
      error instanceof RuntimeError
        ? error
        : new RuntimeError('stillFrozen', describeError(error), { cause: error });
    return { thawed: problem, pausedMs: pause.pausedMs() };
  }
}
