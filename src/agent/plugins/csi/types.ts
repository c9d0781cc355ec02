/** What a CSI driver says of the node that it runs on, checked. */
export interface NodeInfo {
  /** What the driver calls this node: 1 to 256 bytes. */
  readonly nodeId: string;
  /** Most volumes of the driver that the node takes; undefined: no limit is told. */
  readonly maxVolumes: number | undefined;
  /** Labels that say where the node stands, for the driver. */
  readonly topology: Readonly<Record<string, string>>;
}

/** A CSI driver that is in use on this node. */
export interface CsiDriver extends NodeInfo {
  readonly name: string;
  /** Absolute path of the socket that serves csi.v1. */
  readonly endpoint: string;
  /** Absolute path of the registration socket. */
  readonly socket: string;
  /** The highest version 1.x that it has named. */
  readonly version: string;
}

/** How far the cluster knows of a driver. */
export interface Publication {
  /**
   * `published`: the Node and its CSINode say so. `pending`: not yet, the API is asked again and again. `refused`: the API or
   * what is on the Node stands against it, and it is tried again all the same. `local`: there is no control plane.
   */
  readonly state: 'published' | 'pending' | 'refused' | 'local';
  /** Wall clock, milliseconds: when this state began. */
  readonly sinceMs: number;
  /** Why not, and what to do. */
  readonly problem?: string | undefined;
}

/** The CSI drivers of this node, for whoever mounts volumes. */
export interface CsiDrivers {
  /** The one in use under this name: of several, the one that was registered with the highest version. */
  driver(name: string): CsiDriver | undefined;
  /** Those in use, sorted by name. */
  drivers(): readonly CsiDriver[];
  onChange(listener: () => void): Disposable;
}
