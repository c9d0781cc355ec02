/**
 * The default hard eviction thresholds. A share is a 32-bit float in the reference, and the published
 * allocatable storage is computed with it to the byte.
 */
export const hardEviction = {
  /** memory.available */
  memoryBytes: 100 * 1024 * 1024,
  /** nodefs.available, of the capacity */
  nodefsShare: Math.fround(0.1),
  /** nodefs.inodesFree, of all inodes */
  nodefsInodesShare: Math.fround(0.05),
  /** pid.available, of the limit */
  pidShare: Math.fround(0.1),
} as const;
