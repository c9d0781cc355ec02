/**
 * Checkpoints of several containers, all of the same moment. The steps:
 *
 *     space, journals       for each container; nothing is paused yet
 *     freeze                one after the other, in the order in which the containers were created
 *     dump                  one after the other, while all stand still
 *     release               in the reverse order, in any case, and each is proven to run
 *     finish, publish       digests and sealing; either all get their names, or none does
 *
 * Each container has its journal before the first one is frozen. So after a crash at any time the next start of the agent
 * finds and thaws all of them, as it does after a crash in a checkpoint of a single container.
 */
import type { ContainerFacts, Hold, Released, Runtime } from '../../runtime/index.ts';
import { RuntimeError } from '../../runtime/index.ts';
import { createDigester } from '../dump/digest.ts';
import type { Draft } from '../dump/draft.ts';
import { createDraftName } from '../dump/draft.ts';
import type { DumperOptions, DumpSubject } from '../dump/dump-steps.ts';
import {
  computeSpaceRequest,
  discardDraft,
  explainingEnd,
  finishArchive,
  openDraftFor,
  resolveRecipients,
} from '../dump/dump-steps.ts';
import { createStoppedError } from '../dump/stop-gate.ts';
import type { TimeLimit } from '../dump/time-limit.ts';
import type { Target } from '../errors.ts';
import { createFailure, createTimeoutError, toCheckpointError, toPodTarget } from '../errors.ts';
import type { MadeSet, SetHead, UnnamedMember } from './publish-set.ts';
import { SetPublisher } from './publish-set.ts';

interface SetDumperOptions extends DumperOptions {
  runtime: DumperOptions['runtime'] & Pick<Runtime, 'hold'>;
}

interface SetOrder {
  readonly namespace: string;
  readonly pod: string;
  /** In the order of freezing; at least one. */
  readonly members: readonly DumpSubject[];
  readonly requester: string;
  /** For everything that the runtime does. */
  readonly limit: TimeLimit;
}

/** A container whose journal has been written. */
interface Member extends DumpSubject {
  readonly name: string;
  readonly facts: ContainerFacts;
  readonly draft: Draft;
  readonly memoryBytes: number;
}

/** When all members stood still. */
type Moment = Pick<SetHead, 'frozenAt' | 'releasedAt'>;

type ReleasedById = ReadonlyMap<string, Released>;

/** Between two attempts, while a failure may come from an earlier dump. */
const retryMs = 1000;

/** Makes the checkpoints of several containers of a pod as one set. */
export class SetDumper {
  readonly #options: SetDumperOptions;
  readonly #publisher: SetPublisher;
  #holds = 0;

  constructor(options: SetDumperOptions) {
    this.#options = options;
    this.#publisher = new SetPublisher(options.archives);
  }

  /** Whether it holds any containers frozen right now. */
  get holding(): boolean {
    return this.#holds > 0;
  }

  /** Rejects with an error that names the container; with `stillFrozen` when one could not be proven to run. */
  async dump(order: SetOrder, cancel: AbortSignal): Promise<MadeSet> {
    const { clock } = this.#options;
    const members: Member[] = [];
    const released = new Map<string, Released>();
    try {
      await using reserved = new AsyncDisposableStack();
      const begun = { wallMs: clock.now(), monotonicMs: clock.monotonicMs() };
      const recipients = await resolveRecipients(this.#options);
      for (const subject of order.members) {
        cancel.throwIfAborted();
        const prepared = this.#prepare(subject, begun.wallMs, reserved);
        members.push(await namingContainer(subject.target, prepared));
      }
      const moment = await this.#dumpWithinLimit(order, members, released, cancel);
      const problem = findFrozen(members, released);
      if (problem !== undefined) throw problem;
      const finished = await this.#finishAll(order, members, released, begun, recipients, cancel);
      const head = { ...composeHead(this.#options.nodeName, order, begun.wallMs), ...moment };
      return await this.#publisher.publish(head, finished, clock.now());
    } catch (error) {
      const frozen = findFrozen(members, released);
      if (frozen !== undefined) throw frozen;
      throw cancel.aborted ? cancel.reason : error;
    } finally {
      await this.#endDrafts(members, released);
    }
  }

  /** Reserves space and writes the journal of one container; `reserved` takes what must be released in the end. */
  async #prepare(subject: DumpSubject, startedMs: number, reserved: AsyncDisposableStack): Promise<Member> {
    const { drafts, room, runtime } = this.#options;
    const facts = await runtime.inspect(subject.found.id);
    const needs = await computeSpaceRequest(this.#options, subject, facts);
    // the space of the members before it is reserved already, so in the end there is enough for all of them
    reserved.use(await room.reserve(needs));
    const name = createDraftName();
    drafts.begin(name);
    try {
      const draft = reserved.use(await openDraftFor(this.#options, name, subject, startedMs));
      return { ...subject, name, facts, draft, memoryBytes: needs.memoryBytes };
    } catch (error) {
      drafts.end(name);
      throw error;
    }
  }

  async #dumpWithinLimit(
    { limit, namespace, pod }: SetOrder,
    members: readonly Member[],
    released: Map<string, Released>,
    cancel: AbortSignal,
  ): Promise<Moment> {
    try {
      return await this.#freezeAndDump(members, released, AbortSignal.any([cancel, limit.expired]));
    } catch (error) {
      if (cancel.aborted || !limit.expired.aborted) throw error;
      throw createTimeoutError(toPodTarget(namespace, pod), limit.seconds, error);
    }
  }

  /** Settles when each container has been released; `released` then says what became of each. */
  async #freezeAndDump(
    members: readonly Member[],
    released: Map<string, Released>,
    cancel: AbortSignal,
  ): Promise<Moment> {
    const { abandoned, clock, runtime, stops } = this.#options;
    using dumps = new DisposableStack();
    const begun = members.map(({ target, found }) => ({
      target,
      givenUp: dumps.use(stops.beginDump(found.id, target)).givenUp,
    }));
    const giveUp = AbortSignal.any([cancel, ...begun.map(({ givenUp }) => givenUp)]);
    const hold = runtime.hold();
    this.#holds += 1;
    try {
      for (const { target, found, facts } of members)
        await namingContainer(target, hold.freeze(found.id, giveUp, facts.pid));
      const frozenAt = new Date(clock.now()).toISOString();
      for (const member of members)
        await namingContainer(
          member.target,
          explainingEnd(this.#options, member, this.#dumpMember(hold, member, giveUp), giveUp),
        );
      return { frozenAt, releasedAt: new Date(clock.now()).toISOString() };
    } catch (error) {
      if (giveUp.aborted) for (const { found } of members) await abandoned.note(found.id);
      const stopped = begun.find(({ givenUp }) => givenUp.aborted);
      throw stopped === undefined ? error : createStoppedError(stopped.target, error);
    } finally {
      const outcomes = await hold.release().finally(() => (this.#holds -= 1));
      for (const [id, outcome] of outcomes) released.set(id, outcome);
    }
  }

  /** Tries again after a failure that an earlier dump of the container may have caused (see abandoned-dumps.ts). */
  async #dumpMember(hold: Hold, { found, draft }: Member, cancel: AbortSignal): Promise<void> {
    const { abandoned, clock } = this.#options;
    const againUntilMs = abandoned.untilMs(found.id) ?? Number.NEGATIVE_INFINITY;
    for (;;) {
      try {
        return await hold.checkpoint(found.id, draft.archive, cancel);
      } catch (error) {
        const failure = error instanceof RuntimeError && error.reason === 'failed';
        if (!failure || clock.monotonicMs() > againUntilMs) throw error;
        await clock.sleep(retryMs, cancel);
        if (cancel.aborted) throw error;
      }
    }
  }

  async #finishAll(
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
      const record = await namingContainer(member.target, finishArchive(this.#options, dumped, cancel));
      finished.push({ draft: member.draft, record });
    }
    return finished;
  }

  /** The draft of a container that may be frozen keeps its journal, for recovery. */
  async #endDrafts(members: readonly Member[], released: ReleasedById): Promise<void> {
    const { drafts, log } = this.#options;
    for (const { name, draft, found } of members) {
      const frozen = isFrozen(released.get(found.id));
      await discardDraft(draft, frozen, log);
      drafts.end(name, frozen ? found.id : undefined);
    }
  }
}

function composeHead(node: string, { namespace, pod, members, requester }: SetOrder, startedMs: number) {
  const podUid = members[0]?.found.podUid ?? '';
  return { node, namespace, pod, podUid, startedAt: new Date(startedMs).toISOString(), requester };
}

/** Rejects as `step` does, with an error that names the container. */
async function namingContainer<T>(target: Target, step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    if (error instanceof RuntimeError && error.reason === 'notFound') {
      throw createFailure('notRunning', target, 'it has ended', error);
    }
    throw toCheckpointError(error, target, undefined);
  }
}

function isFrozen(released: Released | undefined): boolean {
  return released?.thawed instanceof RuntimeError;
}

/** The error for the first member that could not be proven to run, if there is one. */
function findFrozen(members: readonly Member[], released: ReleasedById) {
  for (const { target, found } of members) {
    const thawed = released.get(found.id)?.thawed;
    if (thawed instanceof RuntimeError) return createFailure('stillFrozen', target, thawed.message, thawed);
  }
  return undefined;
}
