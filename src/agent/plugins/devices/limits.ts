/**
 * Limits of the data that plugins send, which are not trusted. The interface demands ids of at most 63 characters; the
 * reference does not check it, so longer ids are accepted up to a limit.
 */
export const limits = {
  /** Resources, each with its own plugin. */
  resources: 256,
  /** Devices of one resource. */
  devices: 16_384,
  idLength: 256,
  /** The highest id of a NUMA node; the kernel has at most 1024 of them. */
  numaNode: 1023,
  /** The size of a message in either direction, gRPC's default. */
  messageBytes: 4 * 1024 * 1024,
  /** Items of each kind in the response to an allocation. */
  allocationParts: 4096,
} as const;

export const times = {
  /** The wait for a plugin's socket, and then for its options, as in the reference. */
  connectMs: 10_000,
  /** The reference has no such limit, so that a pod may wait for ever. */
  callMs: 10_000,
  /** As in the reference. */
  preStartMs: 30_000,
  /** How long the devices of the previous plugin are kept when its successor sends no list. */
  firstListMs: 10_000,
  /** Of lists of one plugin that come at shorter intervals only the last is used. */
  listSpacingMs: 100,
  /** How long the devices of a plugin that has left stay in the node's capacity, as unhealthy; as in the reference. */
  graceMs: 300_000,
} as const;
