/** What a device plugin has told of one of its devices. */
export interface Device {
  readonly id: string;
  /** False too for whatever health is not exactly `Healthy`, and for all devices of a plugin that is away. */
  readonly healthy: boolean;
  /** NUMA nodes that it is near to, ascending; none where the plugin has not told. */
  readonly numaNodes: readonly number[];
}

/** What a plugin has asked for when it registered. */
export interface DeviceOptions {
  /** `preStart` is to be called before each start of a container. */
  readonly preStartRequired: boolean;
  /** `preferred` may be called. */
  readonly preferredAllocation: boolean;
}

/** An extended resource that a plugin offers, or has offered until lately. */
export interface DeviceResource {
  /** Such as `vendor.example/device`. */
  readonly name: string;
  /** By their ids; all unhealthy while the plugin is away. */
  readonly devices: ReadonlyMap<string, Device>;
  readonly options: DeviceOptions;
  /** Undefined while the plugin is away: nothing can be allocated then. */
  readonly plugin: DevicePluginCalls | undefined;
}

/**
 * The calls of one plugin. Each takes a bounded time (allocating and preferring 10 s unless `cancel` aborts before,
 * preparing for a start 30 s) and rejects with a GrpcError, also when the plugin leaves meanwhile.
 */
export interface DevicePluginCalls {
  /** For one container. What it answers has been looked at: sizes are bounded, paths may be anything. */
  allocate(ids: readonly string[], cancel: AbortSignal): Promise<ContainerAllocation>;
  /** May answer anything but too much; whether the ids exist and are free is the caller's to check. */
  preferred(request: PreferenceRequest, cancel: AbortSignal): Promise<readonly string[]>;
  preStart(ids: readonly string[], cancel: AbortSignal): Promise<void>;
}

export interface PreferenceRequest {
  readonly available: readonly string[];
  readonly mustInclude: readonly string[];
  readonly size: number;
}

/** What a container needs to use its devices (ContainerAllocateResponse of v1beta1). */
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

/** The devices of this node, as their plugins tell them now. */
export interface DeviceInventory {
  /** By resource name. A resource whose plugin has left stays, with unhealthy devices, until its grace is over. */
  resources(): ReadonlyMap<string, DeviceResource>;
  /** Calls `listener` after each change of a resource, its devices or its plugin. */
  onChange(listener: () => void): Disposable;
}
