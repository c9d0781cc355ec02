/** What is in a folder that others put things into, followed through all they do to it. */
export type { Heard, HintSource } from './hints.ts';
export type { FolderReader } from './reader.ts';
export type { FolderDiff, FolderEntry, FolderView, FolderWatch } from './types.ts';
export { type FolderWatchOptions, watchFolder } from './watch.ts';
