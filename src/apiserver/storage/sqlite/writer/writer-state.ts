import type { Revision } from '../../types.ts';

/** The writer's knowledge of its store. */
export interface WriterState {
  /** The newest revision on disk. */
  durable: Revision;
  /** The newest revision that was ever issued, also to a failed group: it is never issued again. */
  issued: Revision;
  compacted: Revision;
  /** History before this is to be forgotten. */
  compactTo: Revision;
  /** The size of the rows that only history needs. */
  historyBytes: number;
  /** Beyond it the oldest history is forgotten, however young. */
  readonly historyLimitBytes: number;
  /** A reader needs all history from this revision on; Infinity: there is none. */
  hold: Revision;
}
