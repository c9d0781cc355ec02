/**
 * What is taken from plugins, which are programs of others. The interface asks for ids of at most 63 characters; the
 * reference checks none, so longer ones are taken up to a bound.
 */
export const limits = {
  /** Plugins with resources of their own. */
  resources: 256,
  /** Of one resource. */
  devices: 16_384,
  idLength: 256,
  /** The highest id of a NUMA node; the kernel has at most 1024 of them. */
  numaNode: 1023,
  /** Of a message either way, as gRPC has it by default. */
  messageBytes: 4 * 1024 * 1024,
  /** In an answer to an allocation, of each kind. */
  allocationParts: 4096,
} as const;

export const times = {
  /** As the reference waits for a plugin's socket, and then for its options. */
  connectMs: 10_000,
  /** The reference sets no limit; a pod would wait for ever. */
  callMs: 10_000,
  /** As in the reference. */
  preStartMs: 30_000,
  /** Devices of the plugin before count until then when its successor sends no list. */
  firstListMs: 10_000,
  /** Lists of one plugin that come closer together count as one, the last. */
  listSpacingMs: 100,
  /** How long the devices of a plugin that has left stay, unhealthy, in the node's capacity; the reference's. */
  graceMs: 300_000,
} as const;
