/** A ResourceClaim, told apart by its uid. */
export interface DraClaim {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** What a driver has made ready for a claim. */
export interface PreparedDevice {
  /** The requests of the claim that it is for; none means all of them. */
  readonly requests: readonly string[];
  readonly pool: string;
  readonly device: string;
  /** Fully qualified names for the runtime, such as `vendor.com/class=device`; checked in form. */
  readonly cdiDeviceIds: readonly string[];
  /** Where a device is shared; drivers of v1 only. */
  readonly shareId: string | undefined;
}

/** What came of one claim; `error` is the driver's, or what is wrong with its answer. */
export type Prepared = { readonly devices: readonly PreparedDevice[] } | { readonly error: string };
export type Unprepared = { readonly error: string | undefined };

/** How a driver is reached now. */
export interface DraReadiness {
  /** Whether a connection stands; without one a call fails at once, and is to be tried again later. */
  readonly isConnected: boolean;
  /** Wall clock, milliseconds: since when it stands, or does not. */
  readonly sinceMs: number;
  /** Absolute path of the socket that is asked: of several the newest with a connection. */
  readonly endpoint: string;
  /** Of that one, such as `v1.DRAPlugin`. */
  readonly service: string;
  /** Registration sockets of this driver; two during an upgrade. */
  readonly sockets: number;
}

/**
 * A driver of dynamically allocated resources. Both calls may be repeated for the same claims, are bounded in time (45 s, as
 * the reference) and size, answer each claim apart, and reject with an Error that names the driver when it cannot be asked
 * or answers nonsense. `cancel` gives up, but what is under way in the driver may go on.
 */
export interface DraDriver {
  readonly name: string;
  readiness(): DraReadiness;
  /** By the uid of the claim, one for each claim. */
  prepare(claims: readonly DraClaim[], cancel: AbortSignal): Promise<ReadonlyMap<string, Prepared>>;
  unprepare(claims: readonly DraClaim[], cancel: AbortSignal): Promise<ReadonlyMap<string, Unprepared>>;
}

/** The DRA drivers of this node, for whoever starts pods. */
export interface DraDrivers {
  /** Undefined where none of this name is registered. What is answered follows the driver through its upgrades. */
  driver(name: string): DraDriver | undefined;
  /** Sorted by name. */
  drivers(): readonly DraDriver[];
  /** A driver came or went, or a connection. */
  onChange(listener: () => void): Disposable;
}
