/*
 * What `nodeward top` shows, and prints with `-o json`. Sizes are bytes, CPU is in nanocores, shares are from 0 to 1 of what they
 * are of, `psi` is the percentage of the last ten seconds in which a task waited. What is not known is undefined, and missing in
 * JSON: 0 means that nothing is used. Fields are only ever added.
 */

/** One look at a node. */
export interface Figures {
  /** When the agent answered; RFC 3339. */
  readonly time: string;
  readonly node: NodeFigures;
  /** Those that have not ended, in no order. */
  readonly pods: readonly PodFigures[];
}

export interface NodeFigures {
  readonly name: string;
  readonly cpu: {
    readonly usedNanoCores?: number | undefined;
    readonly allocatableNanoCores?: number | undefined;
    readonly psi?: number | undefined;
  };
  readonly memory: {
    readonly workingSetBytes?: number | undefined;
    readonly allocatableBytes?: number | undefined;
    /** Until pods are evicted: of the node, or of all pods together, whichever is less; negative: below the threshold. */
    readonly untilEvictionBytes?: number | undefined;
    readonly psi?: number | undefined;
  };
  /** Waiting for disks. */
  readonly io: { readonly psi?: number | undefined };
  /** That of the node first, then that of the images, and that of containers where it is another. */
  readonly disks: readonly DiskFigures[];
  readonly processes: {
    readonly used?: number | undefined;
    readonly max?: number | undefined;
    readonly untilEviction?: number | undefined;
  };
  readonly podSlots: { readonly used: number; readonly allocatable?: number | undefined };
  /** What the node is short of. */
  readonly pressures: readonly PressureFigure[];
}

export interface DiskFigures {
  readonly of: 'node' | 'images' | 'containers';
  /** Of images and containers: what they alone use. */
  readonly usedBytes?: number | undefined;
  readonly capacityBytes?: number | undefined;
  readonly availableBytes?: number | undefined;
  readonly untilEvictionBytes?: number | undefined;
  /** Of the whole file system. */
  readonly inodesShare?: number | undefined;
}

export interface PressureFigure {
  readonly condition: string;
  readonly since: string;
  readonly found: string;
}

/** What a pod or a container uses. */
export interface UseFigures {
  readonly name: string;
  readonly cpuNanoCores?: number | undefined;
  /** The working set. */
  readonly memoryBytes?: number | undefined;
  readonly memoryLimitBytes?: number | undefined;
  /** Of the limit; of a pod the greatest of its own and its containers'. */
  readonly memoryShare?: number | undefined;
  /** Of the periods since the look before: those in which its CPU limit made it wait; of a pod as `memoryShare`. */
  readonly throttledShare?: number | undefined;
  /** Of the node's disks: logs, writable layers and, of a pod, its volumes of the kind emptyDir. */
  readonly ephemeralBytes?: number | undefined;
  readonly restarts?: number | undefined;
}

export interface PodFigures extends UseFigures {
  readonly namespace: string;
  readonly uid: string;
  /** What it waits for, else its phase. */
  readonly status?: string | undefined;
  /** Of those that are to run on, so many are ready. */
  readonly ready?: { readonly count: number; readonly of: number } | undefined;
  readonly containers: readonly ContainerFigures[];
}

export interface ContainerFigures extends UseFigures {
  readonly status?: string | undefined;
  readonly isReady?: boolean | undefined;
}
