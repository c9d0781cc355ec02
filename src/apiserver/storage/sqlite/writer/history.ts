/**
 * Reads the past, in steps. Each step is bounded in rows, in bytes and in versions visited, and holds no read transaction
 * when it returns: a long list neither makes writers wait nor the log file grow.
 */
import { bucketOf } from '../../key-order.ts';
import type { Revision } from '../../types.ts';
import type { ListCursor, PackedReplay, ReadAnswer, ReadRequest } from '../messages.ts';
import { StatesPacker } from '../packing.ts';
import type { Database, Head } from './database.ts';
import { damagedRow } from './errors.ts';

/** Bounds of one step. */
const bounds = { rows: 500, bytes: 4 * 1024 * 1024, looks: 5_000 };

/** The readable revisions: from `compacted` to `revision`. */
export interface Readable {
  readonly revision: Revision;
  readonly compacted: Revision;
}

export function readStep(db: Database, state: Readable, request: ReadRequest): ReadAnswer {
  if (request.kind === 'replay') {
    if (request.after < state.compacted) return 'compacted';
    return replayStep(db, request.prefix, request.after, request.upTo);
  }
  if (request.revision > state.revision) return 'future';
  if (request.revision < state.compacted) return 'compacted';
  return request.kind === 'list' ? listStep(db, request) : countStep(db, request);
}

type Found = 'none' | 'tired' | { readonly revision: Revision; readonly createRevision: Revision };

/** Finds a key's version at a revision, within a budget of versions to visit; `tired`: the budget is used up. */
class Finder {
  readonly #db: Database;
  readonly #revision: Revision;
  /** Where to continue when the last result was `tired`. */
  stoppedAt: Revision = 0;
  #looks = bounds.looks;

  constructor(db: Database, revision: Revision) {
    this.#db = db;
    this.#revision = revision;
  }

  get tired(): boolean {
    return this.#looks <= 0;
  }

  find(head: Head, from: ListCursor): Found {
    this.#looks--;
    if (head.revision <= this.#revision) return head.createRevision === 0 ? 'none' : head;
    let at = from.version?.key === head.key ? from.version.revision : head.revision;
    for (;;) {
      if (this.#looks-- <= 0) {
        this.stoppedAt = at;
        return 'tired';
      }
      const entry = this.#db.entry(at);
      if (entry === undefined) return 'none';
      if (at <= this.#revision) return entry.createRevision === 0 ? 'none' : entry;
      at = entry.previousRevision;
    }
  }
}

function listStep(db: Database, request: ReadRequest & { kind: 'list' }): ReadAnswer {
  const limit = request.limit === 0 ? bounds.rows : Math.min(request.limit, bounds.rows);
  const finder = new Finder(db, request.revision);
  const keys: string[] = [];
  const states = new StatesPacker();
  let after = request.from.after;
  for (const head of db.heads(request.prefix, after)) {
    if (keys.length >= limit || states.size >= bounds.bytes || finder.tired) {
      return { kind: 'list', keys, states: states.pack(), next: { after } };
    }
    const found = finder.find(head, request.from);
    if (found === 'tired') {
      const version = { key: head.key, revision: finder.stoppedAt };
      return { kind: 'list', keys, states: states.pack(), next: { after, version } };
    }
    after = head.key;
    if (found === 'none') continue;
    const version = db.version(found.revision, head.key);
    if (version === undefined) throw damagedRow(db.file, head.key, found.revision);
    keys.push(head.key);
    states.add(found.revision, found.createRevision, version.value);
  }
  return { kind: 'list', keys, states: states.pack(), next: null };
}

function countStep(db: Database, request: ReadRequest & { kind: 'count' }): ReadAnswer {
  const finder = new Finder(db, request.revision);
  let count = 0;
  let after = request.from.after;
  for (const head of db.heads(request.prefix, after)) {
    if (finder.tired) return { kind: 'count', count, next: { after } };
    const found = finder.find(head, request.from);
    if (found === 'tired') {
      const version = { key: head.key, revision: finder.stoppedAt };
      return { kind: 'count', count, next: { after, version } };
    }
    after = head.key;
    if (found !== 'none') count++;
  }
  return { kind: 'count', count, next: null };
}

/** The first of the changes after `after` up to `upTo`. */
function replayStep(db: Database, prefix: string, after: Revision, upTo: Revision): PackedReplay {
  const keys: string[] = [];
  const revisions: Revision[] = [];
  const next = new StatesPacker();
  const previous = new StatesPacker();
  let looks = 0;
  let through = after;
  const done = (to: Revision): PackedReplay => {
    return { kind: 'replay', keys, revisions, next: next.pack(), previous: previous.pack(), through: to };
  };
  for (const entry of db.entries(bucketOf(prefix), after, upTo)) {
    if (keys.length >= bounds.rows || next.size + previous.size >= bounds.bytes || looks++ >= bounds.looks) {
      return done(through);
    }
    through = entry.revision;
    if (!entry.key.startsWith(prefix)) continue;
    keys.push(entry.key);
    revisions.push(entry.revision);
    addVersion(next, db, entry.key, entry.revision);
    addVersion(previous, db, entry.key, entry.previousRevision);
  }
  return done(upTo);
}

function addVersion(states: StatesPacker, db: Database, key: string, revision: Revision): void {
  const version = revision === 0 ? undefined : db.version(revision, key);
  if (version === undefined) states.addNone();
  else states.add(revision, version.createRevision, version.value);
}
