import type { Revision, Stored } from '../types.ts';

/** All objects as of one revision, in the order of their keys. */
export interface Reading {
  readonly revision: Revision;
  readonly objects: AsyncIterable<Stored>;
}

/** Where objects are moved from. Everything rejects with a StorageError or an ExitError that says what to do. */
export interface MigrationSource extends AsyncDisposable {
  /** To be shown and recorded: `sqlite:FOLDER`, `etcd:URL,URL/PREFIX`. */
  readonly name: string;
  readonly groupSuffix: string;
  /** The newest state. Reading it in full may take minutes; who reads writes it down as it comes. */
  read(): Promise<Reading>;
  /** Keeps all writers off until disposed of, or until this process dies. */
  hold(to: string): Promise<SourceHold>;
}

export interface SourceHold extends AsyncDisposable {
  /** Nothing is written behind it while the hold lasts. */
  readonly revision: Revision;
  /** Keeps writers off for good, in servers to come too. Rejects when the hold was lost: then writers may have gone on. */
  seal(): Promise<void>;
}

/** What there is to bring to an end once nobody writes to the source. */
export interface LastPart {
  readonly source: MigrationSource;
  readonly hold: SourceHold;
}

export interface Migrated {
  readonly objects: number;
  /** Of their values. */
  readonly bytes: number;
  /** Of the target: larger than all that the source has handed out. */
  readonly revision: Revision;
}

/** Where objects are moved to. Everything rejects with a StorageError that says what to do. */
export interface MigrationTarget extends AsyncDisposable {
  /** As of a source. */
  readonly name: string;
  /** Refuses what holds objects already; from here on no server starts on it, until `finish` has come to its end. */
  begin(source: MigrationSource): Promise<void>;
  /** Takes a state that may be old when it is taken. Undefined: the target takes everything at the end. */
  readonly prepare?: ((reading: Reading) => Promise<void>) | undefined;
  /** Takes the newest state, reads it back and compares, seals the source and opens itself to servers. */
  finish(last: LastPart): Promise<Migrated>;
}

/** Told of every object that is looked at. */
export interface Progress {
  step(what: string): void;
  add(objects: number): void;
}

/** Revisions that a source hands out after all are left behind by so much. */
export const leap = 1_000_000_000;
