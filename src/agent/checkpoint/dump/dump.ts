import type { Pause } from '../../runtime/index.ts';
import type { StoredCheckpoint } from '../archive-folder.ts';
import { composeArchiveName, composeCheckpointId } from '../checkpoint-id.ts';
import { createTimeoutError } from '../errors.ts';
import type { CheckpointRecord } from '../record.ts';
import { formatRecord } from '../record.ts';
import { createDigester } from './digest.ts';
import type { Draft } from './draft.ts';
import { createDraftName } from './draft.ts';
import type { DumperOptions, DumpSubject, UnnamedRecord } from './dump-steps.ts';
import {
  computeSpaceRequest,
  discardDraft,
  explainingEnd,
  finishArchive,
  isStillFrozen,
  openDraftFor,
  resolveRecipients,
} from './dump-steps.ts';
import { createStoppedError } from './stop-gate.ts';
import type { TimeLimit } from './time-limit.ts';

interface DumpRequest extends DumpSubject {
  limit: TimeLimit;
}

/** A checkpoint that has just been made. */
export type MadeCheckpoint = StoredCheckpoint & { readonly record: CheckpointRecord };

/** How many names in a row may be taken already. */
const maxNameTries = 1000;

/** Makes one archive of one running container. Does not limit how many are made at a time. */
export class Dumper {
  readonly #options: DumperOptions;
  /** Names given so far: makes the ids of one millisecond differ. */
  #named = 0;

  constructor(options: DumperOptions) {
    this.#options = options;
  }

  /** All preparations come before the draft, and the draft's journal before the container is paused. */
  async dump(request: DumpRequest, cancel: AbortSignal): Promise<MadeCheckpoint> {
    const { log, clock, drafts, runtime, room } = this.#options;
    const name = createDraftName();
    let frozenId: string | undefined;
    drafts.begin(name);
    try {
      const begun = { wallMs: clock.now(), monotonicMs: clock.monotonicMs() };
      const recipients = await resolveRecipients(this.#options);
      const facts = await runtime.inspect(request.found.id);
      const needs = await computeSpaceRequest(this.#options, request, facts);
      using _space = await room.reserve(needs);
      await using digester = createDigester(needs.memoryBytes);
      await using draft = await openDraftFor(this.#options, name, request, begun.wallMs);
      try {
        const pause = await this.#writeArchive(draft, request, facts.pid, cancel);
        const dumped = { ...request, draft, digester, recipients, facts, pause, begun };
        const made = await this.#publish(draft, await finishArchive(this.#options, dumped, cancel));
        await discardDraft(draft, false, log);
        return made;
      } catch (error) {
        if (isStillFrozen(error)) frozenId = request.found.id;
        await discardDraft(draft, isStillFrozen(error), log);
        throw error;
      }
    } finally {
      drafts.end(name, frozenId);
    }
  }

  /** Has the runtime write the archive, within the request's time limit. */
  async #writeArchive(
    draft: Draft,
    request: DumpRequest,
    pid: number | undefined,
    cancel: AbortSignal,
  ): Promise<Pause> {
    const { runtime, abandoned, stops } = this.#options;
    const { target, found, limit } = request;
    using dump = stops.beginDump(found.id, target);
    const giveUp = AbortSignal.any([cancel, limit.expired, dump.givenUp]);
    try {
      const hints = { pid, againUntilMs: abandoned.untilMs(found.id) };
      const checkpoint = runtime.checkpoint(found.id, draft.archive, giveUp, hints);
      return await explainingEnd(this.#options, request, checkpoint, giveUp);
    } catch (error) {
      if (giveUp.aborted) await abandoned.note(found.id);
      if (dump.givenUp.aborted && !isStillFrozen(error)) throw createStoppedError(target, error);
      if (!limit.expired.aborted || cancel.aborted || isStillFrozen(error)) throw error;
      throw createTimeoutError(target, limit.seconds, error);
    }
  }

  /** Takes the first free name. The record contains the name, so it is written again for each attempt. */
  async #publish(draft: Draft, record: UnnamedRecord): Promise<MadeCheckpoint> {
    const { archives } = this.#options;
    for (let tries = 0; tries < maxNameTries; tries += 1) {
      const id = composeCheckpointId(record, Date.parse(record.startedAt), this.#named++);
      const whole = { ...record, id, archive: composeArchiveName(id, record) };
      if (!(await archives.publish(id, await draft.writeRecord(formatRecord(whole))))) continue;
      const stored = await archives.read(id);
      if (stored === undefined) throw new Error(`${id} is gone already`);
      return { ...stored, record: whole };
    }
    throw new Error(`no free name for the archive in ${archives.path}`);
  }
}
