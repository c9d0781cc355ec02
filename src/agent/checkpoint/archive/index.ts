/** Reads and compares the archives of checkpoints, and makes images of them. Never changes an archive. */

export { compareArchives } from './compare.ts';
export type {
  Comparison,
  Difference,
  FileChange,
  NumberChange,
  ProcessChange,
} from './comparison.ts';
export type { ArchiveContents, OpenFile, ProcessFacts } from './contents.ts';
export { makeImage } from './make-image.ts';
export { createArchiveReader } from './read-archive.ts';
export { ArchiveError } from './tar-walk.ts';
