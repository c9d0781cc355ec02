import type { FailureCode, Revision } from '../../types.ts';
import { StorageError } from '../../types.ts';
import type { GroupResult } from '../messages.ts';
import { writeResult } from '../messages.ts';
import { StatesPacker } from '../packing.ts';
import type { StoreRecord } from './checksum.ts';
import { rowBytes } from './checksum.ts';
import { compactStep } from './compaction.ts';
import type { Database, Head, Version } from './database.ts';
import { describeSqlite, isDamage, isFull } from './errors.ts';
import type { WriterState } from './writer-state.ts';

/** A write as it reached the writer. */
export interface QueuedWrite {
  readonly key: string;
  readonly expect: Revision;
  /** null: a deletion. */
  readonly value: Uint8Array | null;
  readonly wantPrevious: boolean;
}

interface WriteAnswer {
  readonly result: number;
  readonly revision: Revision;
  readonly createRevision: Revision;
  /** The revision of `state`: the previous state when it was requested, the present one after a conflict. */
  readonly stateRevision: Revision;
  readonly state: Version | undefined;
  /** Added to history by this write. */
  readonly historyBytes: number;
}

const failed: WriteAnswer = {
  result: writeResult.failed,
  revision: 0,
  createRevision: 0,
  stateRevision: 0,
  state: undefined,
  historyBytes: 0,
};

/** A group's answers, and the error after which the connection must not be used any more. */
export interface GroupOutcome {
  readonly result: GroupResult;
  readonly broken: unknown;
}

/**
 * Compares and writes a group in one transaction. No two writes are of one key, so each is compared with durable state,
 * and a conflict stays valid whether or not the group itself succeeds. Some history is forgotten in the same transaction,
 * which saves a separate sync.
 */
export function commitGroup(
  db: Database,
  state: WriterState,
  writes: readonly QueuedWrite[],
  compactRows: number,
): GroupOutcome {
  const answers: WriteAnswer[] = [];
  try {
    const before = state.issued;
    const saved = db.transaction(() => {
      let added = 0;
      for (const write of writes) {
        const answer = applyWrite(db, state, write);
        answers.push(answer);
        added += answer.historyBytes;
      }
      const { upTo: compacted, bytes } =
        compactRows > 0 ? compactStep(db, state, compactRows, added) : { upTo: state.compacted, bytes: 0 };
      // Without a change there is nothing to make durable, and COMMIT costs nothing.
      if (state.issued === before && compacted === state.compacted) return undefined;
      const next = { revision: state.issued, compacted, historyBytes: state.historyBytes + added - bytes };
      db.saveState(next);
      return next;
    });
    if (saved !== undefined) apply(state, saved);
    return { result: pack(answers, state.durable, undefined), broken: undefined };
  } catch (error) {
    const { code, broken } = classifyFailure(error);
    const failure = { code, message: describeSqlite(error) };
    return { result: pack(failAll(answers, writes.length), state.durable, failure), broken };
  }
}

/** Records what is on disk now. Revisions issued to a failed group count only once a later state is saved. */
export function apply(state: WriterState, saved: Omit<StoreRecord, 'groupSuffix'>): void {
  state.durable = saved.revision;
  state.compacted = saved.compacted;
  state.historyBytes = saved.historyBytes;
}

/** A damaged row was only read: nothing was written, and the connection can still be used. */
function classifyFailure(error: unknown): { code: FailureCode; broken: unknown } {
  if (isFull(error)) return { code: 'full', broken: undefined };
  if (error instanceof StorageError && isDamage(error)) return { code: 'unavailable', broken: undefined };
  return { code: 'unknown', broken: error };
}

function applyWrite(db: Database, state: WriterState, write: QueuedWrite): WriteAnswer {
  const head = db.head(write.key);
  const present = head !== undefined && head.createRevision !== 0 ? head : undefined;
  const deletes = write.value === null;
  if ((present?.revision ?? 0) !== write.expect || (deletes && present === undefined)) {
    return conflict(db, present);
  }
  const revision = ++state.issued;
  const createRevision = present?.createRevision ?? revision;
  const answer: WriteAnswer = {
    result: writeResult.ok,
    revision,
    createRevision,
    stateRevision: write.expect,
    state: write.wantPrevious && present !== undefined ? db.version(present.revision, write.key) : undefined,
    historyBytes: (present?.bytes ?? 0) + (deletes ? rowBytes(write.key, null) : 0),
  };
  const entry = {
    key: write.key,
    revision,
    createRevision: deletes ? 0 : createRevision,
    previousRevision: head?.revision ?? 0,
  };
  db.append(entry, write.value);
  return answer;
}

function conflict(db: Database, present: Head | undefined): WriteAnswer {
  const state = present === undefined ? undefined : db.version(present.revision, present.key);
  const stateRevision = present?.revision ?? 0;
  return {
    result: writeResult.conflict,
    revision: 0,
    createRevision: 0,
    stateRevision,
    state,
    historyBytes: 0,
  };
}

/** In a failed group conflicts stay conflicts, and all other writes have failed. */
function failAll(answers: readonly WriteAnswer[], count: number): readonly WriteAnswer[] {
  return Array.from({ length: count }, (_, index) => {
    const answer = answers[index];
    return answer?.result === writeResult.conflict ? answer : failed;
  });
}

function pack(
  answers: readonly WriteAnswer[],
  revision: Revision,
  failure: GroupResult['failure'],
): GroupResult {
  const states = new StatesPacker();
  for (const { state, stateRevision } of answers) {
    if (state === undefined) states.addNone();
    else states.add(stateRevision, state.createRevision, state.value);
  }
  return {
    type: 'group',
    results: answers.map((answer) => answer.result),
    revisions: answers.map((answer) => answer.revision),
    createRevisions: answers.map((answer) => answer.createRevision),
    states: states.pack(),
    revision,
    failure,
  };
}

/** The result of writes that were not tried at all. */
export function refuseGroup(
  count: number,
  revision: Revision,
  code: 'full' | 'unavailable',
  message: string,
): GroupResult {
  return pack(failAll([], count), revision, { code, message });
}
