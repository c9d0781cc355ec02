/** Files in which the agent keeps its own state from one start to the next (specification 2.6). */

export type { StateRecord } from './format.ts';
export { removeDraftsIn } from './set-aside.ts';
export { openStateFile, removeStateFile, type StateFile } from './state-file.ts';
export { StateWriteError } from './writer.ts';
