import type { Revision, Stored } from '../types.ts';

/** All objects as of one revision, in the order of their keys. */
export interface Reading {
  readonly revision: Revision;
  readonly objects: AsyncIterable<Stored>;
}

/** Where objects are moved from. Everything rejects with a StorageError or an ExitError that says what to do. */
export interface MigrationSource extends AsyncDisposable {
  /** For messages and records: `sqlite:FOLDER`, `etcd:URL,URL/PREFIX`. */
  readonly name: string;
  readonly groupSuffix: string;
  /** The newest state. Reading it in full may take minutes; the caller writes the objects as they come. */
  read(): Promise<Reading>;
  /** Keeps all writers off until disposed of, or until this process dies. */
  hold(to: string): Promise<SourceHold>;
}

export interface SourceHold extends AsyncDisposable {
  /** Nothing is written after it while the hold lasts. */
  readonly revision: Revision;
  /** Keeps writers off for good, also in future servers. Rejects when the hold was lost: writers may then have continued. */
  seal(): Promise<void>;
}

/** The input of the last step, when no process writes to the source any more. */
export interface LastPart {
  readonly source: MigrationSource;
  readonly hold: SourceHold;
}

export interface Migrated {
  readonly objects: number;
  /** Of their values. */
  readonly bytes: number;
  /** Of the target: larger than all that the source has issued. */
  readonly revision: Revision;
}

/** Where objects are moved to. Everything rejects with a StorageError that says what to do. */
export interface MigrationTarget extends AsyncDisposable {
  /** As of a source. */
  readonly name: string;
  /** Rejects when it holds objects already; from now on no server starts on it, until `finish` has ended. */
  begin(source: MigrationSource): Promise<void>;
  /** Copies a state that may be outdated when it is copied. Undefined: the target copies everything at the end. */
  readonly prepare?: ((reading: Reading) => Promise<void>) | undefined;
  /** Takes the newest state, reads it back and compares, seals the source and opens itself to servers. */
  finish(last: LastPart): Promise<Migrated>;
}

/** Receives the steps, and the number of objects processed. */
export interface Progress {
  step(what: string): void;
  add(objects: number): void;
}

/** The target's revisions start this much after the source's, beyond those that the source may still issue. */
export const leap = 1_000_000_000;
