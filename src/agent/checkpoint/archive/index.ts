/** Reading the archives of checkpoints, comparing them, and making images of them. Nothing here changes an archive. */

export { compareArchives } from './compare.ts';
export type {
  Comparison,
  Counted,
  Difference,
  FileChange,
  ProcessChange,
  ProcessFile,
} from './comparison.ts';
export type { ArchiveContents, OpenFile, ProcessFacts } from './contents.ts';
export { type ImageOfCheckpoint, isImageName, makeImage } from './make-image.ts';
export { type ArchiveReader, createArchiveReader } from './read-archive.ts';
export { ArchiveError } from './tar-walk.ts';
