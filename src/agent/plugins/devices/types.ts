/** A device, as its plugin lists it. */
export interface Device {
  readonly id: string;
  /** True only for the health `Healthy`; false for all devices of a plugin that is away. */
  readonly healthy: boolean;
  /** The NUMA nodes that it is attached to, ascending; empty when the plugin states none. */
  readonly numaNodes: readonly number[];
}

/** The options of a plugin. */
export interface DeviceOptions {
  /** `preStart` must be called before each start of a container. */
  readonly preStartRequired: boolean;
  /** `preferred` may be called. */
  readonly preferredAllocation: boolean;
}

/** An extended resource that a plugin offers, or offered until its grace is over. */
export interface DeviceResource {
  /** Such as `vendor.example/device`. */
  readonly name: string;
  /** By id; all unhealthy while the plugin is away. */
  readonly devices: ReadonlyMap<string, Device>;
  readonly options: DeviceOptions;
  /** Undefined while the plugin is away: nothing can be allocated then. */
  readonly plugin: DevicePluginCalls | undefined;
}

/**
 * The calls of one plugin. Each has a deadline (`allocate` and `preferred` 10 s, `preStart` 30 s), can be cancelled before,
 * and rejects with a GrpcError, also when the plugin leaves meanwhile.
 */
export interface DevicePluginCalls {
  /** For one container. The response is checked for size only; paths may be anything. */
  allocate(ids: readonly string[], cancel: AbortSignal): Promise<ContainerAllocation>;
  /** The number of returned ids is bounded; the caller must check that they exist and are free. */
  preferred(request: PreferenceRequest, cancel: AbortSignal): Promise<readonly string[]>;
  preStart(ids: readonly string[], cancel: AbortSignal): Promise<void>;
}

export interface PreferenceRequest {
  readonly available: readonly string[];
  readonly mustInclude: readonly string[];
  readonly size: number;
}

/** The settings that a container needs to use its devices (ContainerAllocateResponse of v1beta1). */
export interface ContainerAllocation {
  readonly envs: Readonly<Record<string, string>>;
  readonly mounts: readonly {
    readonly containerPath: string;
    readonly hostPath: string;
    readonly readOnly: boolean;
  }[];
  readonly devices: readonly {
    readonly containerPath: string;
    readonly hostPath: string;
    /** Letters of `rwm`. */
    readonly permissions: string;
  }[];
  readonly annotations: Readonly<Record<string, string>>;
  /** Fully qualified names of the container device interface, such as `vendor.example/class=name`. */
  readonly cdiDevices: readonly string[];
}

/** The present devices of this node. */
export interface DeviceInventory {
  /** By resource name. A resource whose plugin has left stays, with unhealthy devices, until its grace is over. */
  resources(): ReadonlyMap<string, DeviceResource>;
  /** Calls `listener` after each change of a resource, its devices or its plugin. */
  onChange(listener: () => void): Disposable;
}
