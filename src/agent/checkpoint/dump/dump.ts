import type { ContainerFacts, Pause } from '../../runtime/index.ts';
import type { StoredCheckpoint } from '../archive-folder.ts';
import { timedOut } from '../errors.ts';
import { archiveName, checkpointId } from '../names.ts';
import type { CheckpointRecord } from '../record.ts';
import { writeRecord } from '../record.ts';
import { createDigester } from './digest.ts';
import type { Draft } from './draft.ts';
import { draftName } from './draft.ts';
import type { DumperOptions, DumpSubject, UnnamedRecord } from './dump-steps.ts';
import { begin, discard, finish, isStillFrozen, needsOf, recipientsOf } from './dump-steps.ts';
import type { TimeLimit } from './time-limit.ts';

export interface DumpOrder extends DumpSubject {
  limit: TimeLimit;
}

/** A checkpoint that was made just now. */
export type MadeCheckpoint = StoredCheckpoint & { readonly record: CheckpointRecord };

/** Makes one archive from one running container; does not care how many are made at a time. */
export interface Dumper {
  dump(order: DumpOrder, cancel: AbortSignal): Promise<MadeCheckpoint>;
}

/** How many names in a row may be taken already. */
const nameTries = 1000;

export function createDumper(options: DumperOptions): Dumper {
  const { log, clock, archives, drafts } = options;
  let named = 0;

  /** The first free name; the record must tell it, so it is written for each. */
  async function publish(draft: Draft, record: UnnamedRecord): Promise<MadeCheckpoint> {
    for (let tries = 0; tries < nameTries; tries += 1) {
      const id = checkpointId(record, Date.parse(record.startedAt), named++);
      const whole = { ...record, id, archive: archiveName(id, record) };
      if (!(await archives.publish(id, await draft.writeRecord(writeRecord(whole))))) continue;
      const stored = await archives.read(id);
      if (stored === undefined) throw new Error(`${id} is gone already`);
      return { ...stored, record: whole };
    }
    throw new Error(`no free name for the archive in ${archives.path}`);
  }

  async function make(name: string, order: DumpOrder, cancel: AbortSignal): Promise<MadeCheckpoint> {
    const begun = { wallMs: clock.now(), monotonicMs: clock.monotonicMs() };
    const recipients = await recipientsOf(options);
    const facts = await options.runtime.inspect(order.found.id);
    const needs = await needsOf(options, order, facts);
    using _room = await options.room.take(needs);
    await using digester = createDigester(needs.memoryBytes);
    await using draft = await begin(options, name, order, begun.wallMs);
    try {
      const pause = await fill(options, draft, order, facts, cancel);
      const dumped = { ...order, draft, digester, recipients, facts, pause, begun };
      const made = await publish(draft, await finish(options, dumped, cancel));
      await discard(draft, false, log);
      return made;
    } catch (error) {
      await discard(draft, isStillFrozen(error), log);
      throw error;
    }
  }

  return {
    async dump(order, cancel) {
      // Before the draft is there, so that nobody takes it for one that was left behind.
      const name = draftName();
      let frozenId: string | undefined;
      drafts.begin(name);
      try {
        return await make(name, order, cancel);
      } catch (error) {
        if (isStillFrozen(error)) frozenId = order.found.id;
        throw error;
      } finally {
        drafts.end(name, frozenId);
      }
    },
  };
}

/** Has the runtime write the archive, for as long as the order allows. */
async function fill(
  { runtime, abandoned }: DumperOptions,
  draft: Draft,
  { target, found, limit }: DumpOrder,
  { pid }: ContainerFacts,
  cancel: AbortSignal,
): Promise<Pause> {
  const giveUp = AbortSignal.any([cancel, limit.over]);
  try {
    const hints = { pid, againUntilMs: abandoned.untilMs(found.id) };
    return await runtime.checkpoint(found.id, draft.archive, giveUp, hints);
  } catch (error) {
    if (giveUp.aborted) await abandoned.note(found.id);
    if (!limit.over.aborted || cancel.aborted || isStillFrozen(error)) throw error;
    throw timedOut(target, limit.seconds, error);
  }
}
