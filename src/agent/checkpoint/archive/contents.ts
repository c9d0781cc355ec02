/** The content of a checkpoint's archive. Sizes are in bytes, times in RFC 3339. */
export interface ArchiveContents {
  readonly archive: ArchiveFacts;
  readonly container: ContainerFacts;
  readonly criu: CriuFacts;
  /** Parents before their children; children sorted by pid. */
  readonly processes: readonly ProcessFacts[];
  readonly mounts: readonly MountFacts[];
  /** Sorted by name; `value` only when values were requested. */
  readonly environment: readonly { readonly name: string; readonly value?: string }[];
  readonly annotations: Readonly<Record<string, string>>;
  /** Size of the container's log. */
  readonly logBytes: number;
  readonly changedFiles: ChangedFiles;
  /** What was not understood or is missing; where there are any notes, the rest may be incomplete. */
  readonly notes: readonly string[];
}

interface ArchiveFacts {
  readonly bytes: number;
  readonly files: number;
  /** Size of the files that hold memory. */
  readonly pagesBytes: number;
  /** False when the archive ends in the middle, or not all of it was read. */
  readonly whole: boolean;
}

/** Texts are empty where the archive does not have them. */
export interface ContainerFacts {
  readonly id: string;
  readonly name: string;
  readonly pod: string;
  readonly namespace: string;
  readonly podUid: string;
  readonly image: string;
  /** The runtime's reference of the image, which a restore uses. */
  readonly imageRef: string;
  /** The low-level runtime as the container runtime names it, such as `io.containerd.runc.v2`. */
  readonly runtime: string;
  readonly createdAt: string;
  readonly checkpointedAt: string;
  /** As OCI names it, such as `amd64`. */
  readonly architecture: string;
}

interface CriuFacts {
  readonly version: string;
  /** The version of the image files; 0 when they do not have it. */
  readonly imageVersion: number;
  /** How long criu kept the processes frozen, without the pause that the runtime adds. */
  readonly frozenMs?: number;
}

export interface ProcessFacts {
  readonly pid: number;
  /** 0 for the first process. */
  readonly ppid: number;
  readonly comm: string;
  /** `unknown` where the archive does not have it. */
  readonly state: 'alive' | 'stopped' | 'dead' | 'zombie' | 'unknown';
  readonly threads: number;
  readonly memory: MemoryFacts;
  readonly files: readonly OpenFile[];
}

export interface MemoryFacts {
  /** Of all areas, used or not. */
  readonly virtualBytes: number;
  /**
   * Of its private pages in the archive, which it has written to. A checkpoint leaves out pages that are as in their file.
   */
  readonly privateBytes: number;
  /** Of the pages of anonymous shared memory that it has mapped; they count for each process that has mapped them. */
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
  /** The folder of the source that is mounted. */
  readonly root: string;
  readonly readOnly: boolean;
}

/** The differences from the image, from rootfs-diff.tar. */
export interface ChangedFiles {
  /** The number of regular files. */
  readonly files: number;
  readonly bytes: number;
  /** The largest first; at most `changedNames` (limits.ts), so `files` may be larger. */
  readonly largest: readonly { readonly path: string; readonly bytes: number }[];
  /** Files of the image that were removed. */
  readonly removed: readonly string[];
}
