/**
 * Bounds of what is read of an archive, so that a hostile archive costs neither memory nor time. What is beyond them is
 * counted, skipped, or ends the reading of that image, and a note in the result says so.
 */
export const limits = {
  /** Files in the archive. */
  entries: 500_000,
  /** Blocks of the archive that should be headers and are not. */
  brokenHeaders: 1000,
  nameLength: 4096,
  /** Bytes of an extension before a header, such as a long name. */
  extraHeaderBytes: 64 * 1024,
  /** Bytes of one message of an image; the areas of one process's memory are one message. */
  messageBytes: 8 * 1024 * 1024,
  /** Messages of all images. */
  messages: 5_000_000,
  /** Areas of memory of all processes. */
  areas: 2_000_000,
  /** Bytes of a description such as the container's specification. */
  documentBytes: 4 * 1024 * 1024,
  /** Bytes of the beginning of a log, and of criu's statistics. */
  headBytes: 64 * 1024,
  processes: 50_000,
  openFiles: 200_000,
  mounts: 20_000,
  /** Characters of a path or name that is kept. */
  textLength: 4096,
  variables: 10_000,
  /** Bytes of the changed files, decompressed. */
  changedBytes: 16 * 1024 ** 3,
  /** The maximal ratio of decompressed to compressed bytes; applies beyond `bombBytes`. */
  bombRatio: 250,
  bombBytes: 1024 ** 3,
  changedFiles: 1_000_000,
  /** Changed files that are kept by name. */
  changedNames: 20_000,
  changedNameLength: 1024,
  notes: 50,
} as const;
