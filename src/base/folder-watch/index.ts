/** Follows the content of a folder that other processes change in any way. */
export type { HintListener, HintSource } from './hints.ts';
export type { FolderDiff, FolderEntry, FolderView, FolderWatch } from './types.ts';
export { type FolderWatchOptions, watchFolder } from './watch.ts';
