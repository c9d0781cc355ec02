/*
 * The drivers of volumes on this node, as the room calls them; another room speaks with their processes.
 */

/** What a driver can do beyond publishing. */
export type DriverAbility =
  /** A volume is staged once on the node, before it is published to pods. */
  | 'stage'
  /** It tells a single writer on one node from several there. */
  | 'several-writers'
  /** It mounts for a group itself. */
  | 'mount-group'
  /** Its volumes grow on the node. */
  | 'expand'
  /** It tells how full its volumes are. */
  | 'stats';

/** What is wanted of the volume. */
export interface VolumeCapability {
  /** The number of the access mode in the Container Storage Interface. */
  readonly accessMode: number;
  /** Undefined: a block device. */
  readonly mount: MountCapability | undefined;
}

export interface MountCapability {
  /** Empty: the driver's own choice. */
  readonly fsType: string;
  readonly flags: readonly string[];
  /** The group's number; only for a driver that mounts for a group. */
  readonly group: string;
}

export interface StageRequest {
  readonly volumeId: string;
  /** What the attachment gave. */
  readonly publishContext: Readonly<Record<string, string>>;
  readonly stagingPath: string;
  readonly capability: VolumeCapability;
  /** Never logged. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly volumeContext: Readonly<Record<string, string>>;
}

export interface PublishRequest extends StageRequest {
  /** The driver makes it; the folder above is there. */
  readonly targetPath: string;
  readonly isReadOnly: boolean;
}

export interface ExpandRequest {
  readonly volumeId: string;
  /** Where it is published. */
  readonly path: string;
  /** Empty where it is not staged. */
  readonly stagingPath: string;
  readonly sizeBytes: bigint;
  readonly capability: VolumeCapability;
  /** Never logged. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** How full something is. */
export interface Usage {
  readonly total: number;
  readonly available: number;
  readonly used: number;
}

/** What is known of a volume; undefined: it is not known. */
export interface VolumeStats {
  readonly bytes: Usage | undefined;
  readonly inodes: Usage | undefined;
  /** Whether the driver says that something is wrong with it. */
  readonly isAbnormal: boolean | undefined;
}

/** A driver; its calls end after 2 minutes, and reject with a DriverError. */
export interface VolumeDriver {
  abilities(signal: AbortSignal): Promise<ReadonlySet<DriverAbility>>;
  stage(request: StageRequest, signal: AbortSignal): Promise<void>;
  unstage(volumeId: string, stagingPath: string, signal: AbortSignal): Promise<void>;
  publish(request: PublishRequest, signal: AbortSignal): Promise<void>;
  unpublish(volumeId: string, targetPath: string, signal: AbortSignal): Promise<void>;
  expand(request: ExpandRequest, signal: AbortSignal): Promise<void>;
  /** `at`: as where a volume grows. */
  stats(
    at: Pick<ExpandRequest, 'volumeId' | 'path' | 'stagingPath'>,
    signal: AbortSignal,
  ): Promise<VolumeStats>;
}

export interface VolumeDrivers {
  /** Undefined while none of that name is registered. */
  driver(name: string): VolumeDriver | undefined;
  /** Calls `listener` when drivers have come or gone. */
  onChange(listener: () => void): Disposable;
}

/** A call of a driver failed; the message is the reference's for users. */
export class DriverError extends Error {
  override readonly name = 'DriverError';
  /** False: the driver may have done it, or still be doing it. */
  readonly isFinal: boolean;
  /** The gRPC code, such as `FailedPrecondition`; empty where there is none. */
  readonly code: string;

  constructor(
    message: string,
    isFinal: boolean,
    { code = '', ...options }: ErrorOptions & { readonly code?: string } = {},
  ) {
    super(message, options);
    this.isFinal = isFinal;
    this.code = code;
  }
}

export const noDrivers: VolumeDrivers = {
  driver: () => undefined,
  onChange: () => ({ [Symbol.dispose]: () => undefined }),
};

/** Throws an Error for users where the driver is not registered; `what` says what was to be done, as the reference does. */
export function findDriver(drivers: VolumeDrivers, name: string, what: string): VolumeDriver {
  const driver = drivers.driver(name);
  if (driver !== undefined) return driver;
  throw new Error(
    `kubernetes.io/csi: ${what}: driver name ${name} not found in the list of registered CSI drivers`,
  );
}
