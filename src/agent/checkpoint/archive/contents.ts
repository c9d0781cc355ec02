/** What is in the archive of a checkpoint. Sizes are bytes, times are RFC 3339. */
export interface ArchiveContents {
  readonly archive: ArchiveFacts;
  readonly container: ContainerFacts;
  readonly criu: CriuFacts;
  /** Parents before their children; children by number. */
  readonly processes: readonly ProcessFacts[];
  readonly mounts: readonly MountFacts[];
  /** By name; `value` only when it was asked for. */
  readonly environment: readonly { readonly name: string; readonly value?: string }[];
  readonly annotations: Readonly<Record<string, string>>;
  /** What the container has written to its log. */
  readonly logBytes: number;
  readonly changedFiles: ChangedFiles;
  /** What was not understood or not there; where there are any, the rest may be incomplete. */
  readonly notes: readonly string[];
}

export interface ArchiveFacts {
  readonly bytes: number;
  readonly files: number;
  /** Of the files that hold memory. */
  readonly pagesBytes: number;
  /** False when the archive ends in the middle, or not all of it was read. */
  readonly whole: boolean;
}

/** Empty where the archive does not tell. */
export interface ContainerFacts {
  readonly id: string;
  readonly name: string;
  readonly pod: string;
  readonly namespace: string;
  readonly podUid: string;
  readonly image: string;
  /** The runtime's reference of the image, from where a restore takes it. */
  readonly imageRef: string;
  /** The runtime's name for what runs containers, such as `io.containerd.runc.v2`. */
  readonly runtime: string;
  readonly createdAt: string;
  readonly checkpointedAt: string;
  /** As OCI names it, such as `amd64`. */
  readonly architecture: string;
}

export interface CriuFacts {
  readonly version: string;
  /** Of the image files; 0 when they do not tell. */
  readonly imageVersion: number;
  /** How long the processes stood still, without what the runtime adds. */
  readonly frozenMs?: number;
}

export interface ProcessFacts {
  readonly pid: number;
  /** 0 for the first. */
  readonly ppid: number;
  readonly comm: string;
  /** `unknown` where the archive does not tell. */
  readonly state: 'alive' | 'stopped' | 'dead' | 'zombie' | 'unknown';
  readonly threads: number;
  readonly memory: MemoryFacts;
  readonly files: readonly OpenFile[];
}

export interface MemoryFacts {
  /** Of all areas, whether or not there is anything in them. */
  readonly virtualBytes: number;
  /**
   * Of its own pages in the archive: what it has written. Pages that are as in their file are not in a checkpoint.
   */
  readonly privateBytes: number;
  /** Of the pages of anonymous shared memory that it has mapped; each process that has it counts it. */
  readonly sharedBytes: number;
  readonly heapBytes: number;
  readonly areas: number;
}

export interface OpenFile {
  readonly fd: number;
  /** `file`, `pipe`, `fifo`, `tcp`, `udp`, `inet`, `unix`, `eventfd`, `type 99` … */
  readonly kind: string;
  /** A path, a pipe's number, or the addresses of a socket. */
  readonly name: string;
  /** Of files and pipes: `r`, `w` or `rw`. */
  readonly mode?: string;
  readonly position?: number;
  /** Of sockets, such as `LISTEN`. */
  readonly state?: string;
  readonly local?: string;
  readonly remote?: string;
}

export interface MountFacts {
  readonly mountpoint: string;
  readonly type: string;
  readonly source: string;
  /** Which folder of the source. */
  readonly root: string;
  readonly readOnly: boolean;
}

/** What differs from the image, from rootfs-diff.tar. */
export interface ChangedFiles {
  /** Regular files. */
  readonly files: number;
  readonly bytes: number;
  /** The largest first; at most `changedNames` of limits.ts, then `files` is more. */
  readonly largest: readonly { readonly path: string; readonly bytes: number }[];
  /** Files of the image that are gone. */
  readonly removed: readonly string[];
}
