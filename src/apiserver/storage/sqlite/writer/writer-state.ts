import type { Revision } from '../../types.ts';

/** What the writer knows about its store. */
export interface WriterState {
  /** The newest revision on disk. */
  durable: Revision;
  /** The newest revision that was ever given out, also to a group that failed: never given out again. */
  issued: Revision;
  compacted: Revision;
  /** History before this is to be forgotten. */
  compactTo: Revision;
  /** What the rows take that only history needs. */
  historyBytes: number;
  /** Beyond it the oldest history is forgotten, however young. */
  readonly historyLimitBytes: number;
  /** History from here on is being read by somebody who needs all of it; Infinity: by nobody. */
  hold: Revision;
}
