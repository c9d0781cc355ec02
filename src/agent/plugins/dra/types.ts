/** A ResourceClaim, identified by its uid. */
export interface DraClaim {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** A device that a driver has prepared for a claim. */
export interface PreparedDevice {
  /** The requests of the claim that it is for; empty means all of them. */
  readonly requests: readonly string[];
  readonly pool: string;
  readonly device: string;
  /** Fully qualified names for the runtime, such as `vendor.com/class=device`; checked in form. */
  readonly cdiDeviceIds: readonly string[];
  /** Set for a shared device; drivers of v1 only. */
  readonly shareId: string | undefined;
}

/** The result for one claim; `error` is the driver's, or the fault of its response. */
export type Prepared = { readonly devices: readonly PreparedDevice[] } | { readonly error: string };
export type Unprepared = { readonly error: string | undefined };

/** The present connection to a driver. */
export interface DraReadiness {
  /** Without a connection a call fails at once, and must be tried again later. */
  readonly isConnected: boolean;
  /** Wall clock, milliseconds: when this state began. */
  readonly sinceMs: number;
  /** Absolute path of the socket that is called: of several the newest with a connection. */
  readonly endpoint: string;
  /** The service at that socket, such as `v1.DRAPlugin`. */
  readonly service: string;
  /** Registration sockets of this driver; two during an upgrade. */
  readonly sockets: number;
}

/**
 * A driver of dynamically allocated resources. Both calls may be repeated for the same claims, are bounded in time (45 s, as
 * the reference) and size, have a result for each claim, and reject with an Error that names the driver when it cannot be
 * reached or its response is unusable. `cancel` ends the wait, but the driver may continue its work.
 */
export interface DraDriver {
  readonly name: string;
  readiness(): DraReadiness;
  /** By the uid of the claim, one for each claim. */
  prepare(claims: readonly DraClaim[], cancel: AbortSignal): Promise<ReadonlyMap<string, Prepared>>;
  unprepare(claims: readonly DraClaim[], cancel: AbortSignal): Promise<ReadonlyMap<string, Unprepared>>;
}

/** The DRA drivers of this node, for the code that starts pods. */
export interface DraDrivers {
  /** Undefined when no driver of this name is registered. The returned object stays valid across upgrades of the driver. */
  driver(name: string): DraDriver | undefined;
  /** Sorted by name. */
  drivers(): readonly DraDriver[];
  /** Called after a driver or a connection has come or gone. */
  onChange(listener: () => void): Disposable;
}
