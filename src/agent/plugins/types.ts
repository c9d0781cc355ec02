/** A plugin's info, checked in form; its handler checks the rest. */
export interface PluginInfo {
  /** Selects the handler: `CSIPlugin`, `DRAPlugin`, `DevicePlugin`. */
  readonly type: string;
  /** The name of the driver, or of a device plugin's resource; a qualified name of at most 317 characters. */
  readonly name: string;
  /** Absolute path of the socket with its service; the registration socket itself when it states none. */
  readonly endpoint: string;
  /** The versions of its service, in its order; never empty. DRA drivers name whole services, such as `v1beta1.DRAPlugin`. */
  readonly versions: readonly string[];
  /** Absolute path of the registration socket, which distinguishes two plugins with the same name. */
  readonly socket: string;
  /**
   * When the registration socket was created, wall clock in milliseconds: during an upgrade the later one is the newer
   * plugin.
   */
  readonly madeMs: number;
}

/** A registration socket in the folder. */
export interface FoundSocket {
  /** Absolute. */
  readonly path: string;
  /** Changes whenever it may be another socket. */
  readonly identity: string;
  /** Wall clock, milliseconds. */
  readonly madeMs: number;
}

/** Details of a plugin for users and programs: flat, in the order of display. */
export type PluginDetails = Readonly<Record<string, string | number | boolean>>;

/**
 * Handles one type of plugins. For each registration socket the registry calls in this order:
 *
 *     validate ─► register ─► deregister ─► validate ─► …
 *
 * - Calls for one socket are sequential. Different sockets are handled concurrently, also two with one name (an upgrade): the
 *   handler keeps both by `socket`, decides which of them is in use, and uses the other one again when that is deregistered.
 *   A handler that accepts only one plugin of a name refuses the other in validate() or register(). A refused plugin is
 *   tried again, at once when another plugin of that name is deregistered.
 * - register() is called synchronously after validate(): nothing has changed in between.
 * - A replaced socket (a restarted plugin) is deregistered before its successor is registered.
 * - Nothing is deregistered when the agent stops: its plugins keep running, and register again with the next agent.
 */
export interface PluginHandler {
  readonly type: string;
  /** Throws an Error whose message says why this plugin cannot be used; the message is sent to the plugin. No I/O. */
  validate(plugin: PluginInfo): void;
  /**
   * Takes the plugin into use; the plugin is notified afterwards. When it throws, nothing of the plugin may be left, because
   * deregister() is not called then; it is tried again later with growing waits. `signal` aborts when the socket goes or is
   * replaced, the agent stops, or after 3 minutes: then register() must soon resolve or reject.
   */
  register(plugin: PluginInfo, signal: AbortSignal): Promise<void>;
  /** Called when its socket has gone. An error is logged, and the plugin counts as deregistered all the same. */
  deregister(plugin: PluginInfo): void | Promise<void>;
  /**
   * Returns further details of a plugin, by name and value, for `/plugins` and `plugins ls`; undefined when there are none.
   * Called at any time, also while the plugin is being registered; no I/O.
   */
  details?(plugin: PluginInfo): PluginDetails | undefined;
}

/**
 *     found ─► asking ─► validating ─► registering ─► registered ─► gone
 *                 └──────────┴──────────────┴─► failed ─► asking …
 */
export type PluginState =
  | 'found'
  | 'asking'
  | 'validating'
  | 'registering'
  | 'registered'
  | 'failed'
  /** Its socket has gone, and the plugin is being deregistered. */
  | 'gone';

/** A registration socket and the state of its registration. */
export interface PluginSocket {
  /** Absolute. */
  readonly path: string;
  readonly state: PluginState;
  /** Wall clock, milliseconds: when this state began. */
  readonly sinceMs: number;
  /** How often it was asked since it was found or replaced. */
  readonly attempts: number;
  /** Its last info. */
  readonly plugin?: PluginInfo | undefined;
  /** The error of the last try; in the state `registered` that the plugin could not be notified of it. */
  readonly lastError?: string | undefined;
  /** Wall clock, milliseconds; undefined when nothing is tried before the socket changes. */
  readonly nextTryMs?: number | undefined;
  /** Further details from its handler. */
  readonly details?: PluginDetails | undefined;
}

export interface PluginRegistry {
  /** Sorted by path. */
  sockets(): readonly PluginSocket[];
}
