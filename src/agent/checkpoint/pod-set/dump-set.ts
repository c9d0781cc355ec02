/**
 * Checkpoints of several containers of one moment.
 *
 *     room, journals        for each; nothing is paused yet
 *     freeze                one after the other, in the order of their making
 *     dump                  one after the other, while all stand still
 *     release               in the reverse order, whatever happened, and each is proven to run
 *     finish, publish       digests, sealing; all get their names together, or none
 *
 * Each container has its journal before the first is frozen, so after a crash at any time the agent finds and thaws all
 * of them at its next start, as after a crash in a checkpoint of one container.
 */
import type { ContainerFacts, Hold, Released, Runtime } from '../../runtime/index.ts';
import { RuntimeError } from '../../runtime/index.ts';
import { createDigester } from '../dump/digest.ts';
import type { Draft } from '../dump/draft.ts';
import { draftName } from '../dump/draft.ts';
import type { DumperOptions, DumpSubject } from '../dump/dump-steps.ts';
import { begin, discard, finish, needsOf, recipientsOf } from '../dump/dump-steps.ts';
import type { TimeLimit } from '../dump/time-limit.ts';
import type { Target } from '../errors.ts';
import { failed, timedOut, toCheckpointError, wholePod } from '../errors.ts';
import type { MadeSet, SetHead, UnnamedMember } from './publish-set.ts';
import { createSetPublisher } from './publish-set.ts';

export interface SetDumperOptions extends DumperOptions {
  runtime: DumperOptions['runtime'] & Pick<Runtime, 'hold'>;
}

export interface SetOrder {
  readonly namespace: string;
  readonly pod: string;
  /** In the order in which they are to be frozen; at least one. */
  readonly members: readonly DumpSubject[];
  readonly requester: string;
  /** For all that the runtime does. */
  readonly limit: TimeLimit;
}

export interface SetDumper {
  /** Rejects with an error that names the container; with `stillFrozen` when one could not be proven to run. */
  dump(order: SetOrder, cancel: AbortSignal): Promise<MadeSet>;
  /** Whether containers stand still because of it right now. */
  readonly holding: boolean;
}

/** A container whose journal is there. */
interface Member extends DumpSubject {
  readonly name: string;
  readonly facts: ContainerFacts;
  readonly draft: Draft;
  readonly memoryBytes: number;
}

type ReleasedById = ReadonlyMap<string, Released>;

/** For how long a failure that may come from an earlier dump is waited out. */
const againMs = 1000;

export function createSetDumper(options: SetDumperOptions): SetDumper {
  const { abandoned, archives, clock, drafts, log, room, runtime } = options;
  const publisher = createSetPublisher(archives);
  let holding = 0;

  async function prepare(
    subject: DumpSubject,
    startedMs: number,
    own: AsyncDisposableStack,
  ): Promise<Member> {
    const facts = await runtime.inspect(subject.found.id);
    const needs = await needsOf(options, subject, facts);
    own.use(await room.take(needs)); // of those before it is promised already, so there is room for all together
    const name = draftName();
    drafts.begin(name);
    try {
      const draft = own.use(await begin(options, name, subject, startedMs));
      return { ...subject, name, facts, draft, memoryBytes: needs.memoryBytes };
    } catch (error) {
      drafts.end(name);
      throw error;
    }
  }

  /** A dump soon after one that was given up may fail because of that one. */
  async function dumpOne(hold: Hold, { found, draft }: Member, cancel: AbortSignal): Promise<void> {
    const againUntilMs = abandoned.untilMs(found.id) ?? Number.NEGATIVE_INFINITY;
    for (;;) {
      try {
        return await hold.checkpoint(found.id, draft.archive, cancel);
      } catch (error) {
        const failure = error instanceof RuntimeError && error.reason === 'failed';
        if (!failure || clock.monotonicMs() > againUntilMs) throw error;
        await clock.sleep(againMs, cancel);
        if (cancel.aborted) throw error;
      }
    }
  }

  /** Dumps all of one moment; settles when each has been released. Answers the moment. */
  async function take(
    members: readonly Member[],
    cancel: AbortSignal,
    onReleased: (released: ReleasedById) => void,
  ): Promise<Pick<SetHead, 'frozenAt' | 'releasedAt'>> {
    const hold = runtime.hold();
    holding += 1;
    try {
      for (const { target, found, facts } of members)
        await of(target, hold.freeze(found.id, cancel, facts.pid));
      const frozenAt = new Date(clock.now()).toISOString();
      for (const member of members) await of(member.target, dumpOne(hold, member, cancel));
      return { frozenAt, releasedAt: new Date(clock.now()).toISOString() };
    } catch (error) {
      if (cancel.aborted) for (const { found } of members) await abandoned.note(found.id);
      throw error;
    } finally {
      onReleased(await hold.release().finally(() => (holding -= 1)));
    }
  }

  async function finishAll(
    order: SetOrder,
    members: readonly Member[],
    released: ReleasedById,
    begun: { wallMs: number; monotonicMs: number },
    recipients: readonly string[],
    cancel: AbortSignal,
  ): Promise<UnnamedMember[]> {
    await using digester = createDigester(Math.max(...members.map(({ memoryBytes }) => memoryBytes)));
    const finished: UnnamedMember[] = [];
    for (const { memoryBytes: _memory, name: _name, ...member } of members) {
      const pause = { pausedMs: released.get(member.found.id)?.pausedMs };
      const dumped = { ...member, digester, recipients, pause, begun, requester: order.requester };
      finished.push({
        draft: member.draft,
        record: await of(member.target, finish(options, dumped, cancel)),
      });
    }
    return finished;
  }

  /** `members` and `released` take what there is, for whoever clears away. */
  async function make(
    order: SetOrder,
    cancel: AbortSignal,
    members: Member[],
    released: Map<string, Released>,
  ): Promise<MadeSet> {
    await using own = new AsyncDisposableStack();
    const begun = { wallMs: clock.now(), monotonicMs: clock.monotonicMs() };
    const recipients = await recipientsOf(options);
    for (const subject of order.members) {
      cancel.throwIfAborted();
      members.push(await of(subject.target, prepare(subject, begun.wallMs, own)));
    }
    const { limit, namespace, pod, requester } = order;
    const moment = await take(members, AbortSignal.any([cancel, limit.over]), (each) => {
      for (const [id, what] of each) released.set(id, what);
    }).catch((error: unknown): never => {
      if (cancel.aborted || !limit.over.aborted) throw error;
      throw timedOut(wholePod(namespace, pod), limit.seconds, error);
    });
    const problem = frozenProblem(members, released);
    if (problem !== undefined) throw problem;
    const finished = await finishAll(order, members, released, begun, recipients, cancel);
    const podUid = members[0]?.found.podUid ?? '';
    const startedAt = new Date(begun.wallMs).toISOString();
    const head = { node: options.nodeName, namespace, pod, podUid, startedAt, ...moment, requester };
    return await publisher.publish(head, finished, clock.now());
  }

  return {
    get holding() {
      return holding > 0;
    },
    async dump(order, cancel) {
      const members: Member[] = [];
      const released = new Map<string, Released>();
      try {
        return await make(order, cancel, members, released);
      } catch (error) {
        const frozen = frozenProblem(members, released);
        if (frozen !== undefined) throw frozen;
        throw cancel.aborted ? cancel.reason : error;
      } finally {
        for (const { name, draft, found } of members) {
          const frozen = isFrozen(released.get(found.id));
          await discard(draft, frozen, log);
          drafts.end(name, frozen ? found.id : undefined);
        }
      }
    },
  };
}

/** Tells which container it was. */
async function of<T>(target: Target, step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    if (error instanceof RuntimeError && error.reason === 'notFound') {
      throw failed('notRunning', target, 'it has ended', error);
    }
    throw toCheckpointError(error, target, undefined);
  }
}

function isFrozen(released: Released | undefined): boolean {
  return released?.thawed instanceof RuntimeError;
}

function frozenProblem(members: readonly Member[], released: ReleasedById) {
  for (const { target, found } of members) {
    const thawed = released.get(found.id)?.thawed;
    if (thawed instanceof RuntimeError) return failed('stillFrozen', target, thawed.message, thawed);
  }
  return undefined;
}
