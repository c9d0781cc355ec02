/** What a plugin has said of itself, checked in form; each of a kind is told by its handler apart. */
export interface PluginInfo {
  /** Who handles it: `CSIPlugin`, `DRAPlugin`, `DevicePlugin`. */
  readonly type: string;
  /** Of the driver, or of the resource for a device plugin; a qualified name, at most 317 characters. */
  readonly name: string;
  /** Absolute path of the socket where its service is; the registration socket itself where it names none. */
  readonly endpoint: string;
  /** Of its service, in its order; never empty. DRA drivers name whole services, such as `v1beta1.DRAPlugin`. */
  readonly versions: readonly string[];
  /** Absolute path of the registration socket. Of two sockets with one name this tells one from the other. */
  readonly socket: string;
  /** When the registration socket was made, wall clock in milliseconds: during an upgrade the later one is the newer. */
  readonly madeMs: number;
}

/** A registration socket as it stands in the folder. */
export interface FoundSocket {
  /** Absolute. */
  readonly path: string;
  /** Another one whenever it may be another socket. */
  readonly identity: string;
  /** Wall clock, milliseconds. */
  readonly madeMs: number;
}

/** For people and programs alike: flat, in the order in which it is shown. */
export type PluginDetails = Readonly<Record<string, string | number | boolean>>;

/**
 * What takes care of one kind of plugins. The registry keeps to this for each registration socket:
 *
 *     validate ─► register ─► deregister ─► validate ─► …
 *
 * - One call at a time for one socket; sockets run beside each other, also two of one name (an upgrade): the handler keeps
 *   both by `socket`, and when one is deregistered the other counts again. Which of them counts is the handler's to say;
 *   it refuses one in validate() or register() where it takes only one of a name. Whoever is refused is tried again, at once
 *   when another of that name is deregistered.
 * - register() is called in the same turn as validate(): what was free then is free still.
 * - A socket that was replaced (a plugin started again) is deregistered before its successor is registered.
 * - Nothing is deregistered when the agent stops: its plugins live on, and register again with the next one.
 */
export interface PluginHandler {
  readonly type: string;
  /** Throws an Error whose message says why this plugin cannot be used; the plugin is told. No I/O. */
  validate(plugin: PluginInfo): void;
  /**
   * Takes it into use; the plugin is told afterwards. When it throws, nothing of this plugin may be left (there is no
   * deregister() then), and it is tried again later with growing waits. `signal` aborts when the socket goes, is replaced, the
   * agent stops or 3 minutes have passed: then it is to end soon, in either way.
   */
  register(plugin: PluginInfo, signal: AbortSignal): Promise<void>;
  /** Its socket has gone. What it throws is logged, and the plugin counts as deregistered all the same. */
  deregister(plugin: PluginInfo): void | Promise<void>;
  /**
   * What there is to tell of a plugin besides, by name and value, for `/plugins` and `plugins ls`; undefined where there is
   * nothing. Asked at any time, also while it is being registered; no I/O.
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
  /** Its socket is no more, and what it had registered is being deregistered. */
  | 'gone';

/** A registration socket and how far it is. */
export interface PluginSocket {
  /** Absolute. */
  readonly path: string;
  readonly state: PluginState;
  /** Wall clock, milliseconds: when this state began. */
  readonly sinceMs: number;
  /** How often it was asked since it was found, or made anew. */
  readonly attempts: number;
  /** What it has said of itself last. */
  readonly plugin?: PluginInfo | undefined;
  /** Of the last try; in `registered` that it could not be told so. */
  readonly lastError?: string | undefined;
  /** Wall clock, milliseconds; undefined where nothing is tried before the socket changes. */
  readonly nextTryMs?: number | undefined;
  /** What its handler tells of it besides. */
  readonly details?: PluginDetails | undefined;
}

export interface PluginRegistry {
  /** Sorted by path. */
  sockets(): readonly PluginSocket[];
}
