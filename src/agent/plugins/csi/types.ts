/** The checked response of a CSI driver to NodeGetInfo. */
export interface NodeInfo {
  /** The driver's id of this node: 1 to 256 bytes. */
  readonly nodeId: string;
  /** How many volumes of the driver the node can have; undefined: the driver states no limit. */
  readonly maxVolumes: number | undefined;
  /** Labels with the node's place in the driver's topology. */
  readonly topology: Readonly<Record<string, string>>;
}

/** A CSI driver that is in use on this node. */
export interface CsiDriver extends NodeInfo {
  readonly name: string;
  /** Absolute path of the socket that serves csi.v1. */
  readonly endpoint: string;
  /** Absolute path of the registration socket. */
  readonly socket: string;
  /** The highest version 1.x among those that it supports. */
  readonly version: string;
}

/** The state of a driver's publication in the API. */
export interface Publication {
  /**
   * `published`: Node and CSINode have it. `pending`: not yet, it is tried again. `refused`: the API refuses it, or the Node
   * has a label that contradicts it; it is tried again all the same. `local`: there is no control plane.
   */
  readonly state: 'published' | 'pending' | 'refused' | 'local';
  /** Wall clock, milliseconds: when this state began. */
  readonly sinceMs: number;
  /** Why not, and what to do. */
  readonly problem?: string | undefined;
}

/** The CSI drivers of this node, for the code that mounts volumes. */
export interface CsiDrivers {
  /** The driver in use under this name: of several the one with the highest version. */
  driver(name: string): CsiDriver | undefined;
  /** The drivers in use, sorted by name. */
  drivers(): readonly CsiDriver[];
  onChange(listener: () => void): Disposable;
}
