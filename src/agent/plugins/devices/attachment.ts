import type { Backoff, Clock, Logger } from '../../../base/index.ts';
import { createBackoff, describeError } from '../../../base/index.ts';
import type { ConnectOptions, PluginConnection } from './connection.ts';
import { connectPlugin, readIdentity } from './connection.ts';
import type { DeviceList } from './device-list.ts';
import { followList } from './follow-list.ts';
import type { Inventory } from './inventory.ts';

/** How a plugin has registered: by calling the agent, or by a socket in the plugin registry. */
export type Way = 'registration' | 'registry';

/**
 *     connecting ─► listing ─► serving ─► away ─► connecting …
 *                                           └─► ended   its socket was replaced: the plugin registers again
 */
export type AttachmentState = 'connecting' | 'listing' | 'serving' | 'away' | 'ended';

export interface AttachmentOptions {
  readonly resource: string;
  /** Absolute path of the plugin's own socket. */
  readonly socket: string;
  readonly way: Way;
  /** An open connection; without it the attachment connects first. */
  readonly first?: PluginConnection;
  readonly inventory: Inventory;
  readonly clock: Clock;
  readonly log: Logger;
  readonly time: ConnectOptions['time'];
  readonly random?: () => number;
  /** Called each time the plugin leaves. */
  readonly onAway?: () => void;
}

/** After a connection that has lasted this long the next wait is short again. */
const goodMs = 60_000;

/**
 * Keeps the inventory up to date with one plugin until it is disposed of, which leaves the inventory as it is. When the
 * plugin's list ends its devices are unhealthy at once. The agent connects again to the same socket, with growing waits; a
 * plugin that registered by a call, and whose socket was removed or replaced, has to call again.
 */
export class Attachment implements Disposable {
  readonly resource: string;
  /** Absolute path of the plugin's own socket. */
  readonly socket: string;
  readonly way: Way;
  readonly #options: AttachmentOptions;
  readonly #log: Logger;
  readonly #backoff: Backoff;
  readonly #end = new AbortController();
  readonly #signal = this.#end.signal;
  #identity: string | undefined;
  #state: AttachmentState = 'connecting';
  #sinceMs: number;
  #lastError: string | undefined;
  #remarks: readonly string[] = [];

  constructor(options: AttachmentOptions) {
    const { resource, socket, way, first, clock, log, random = Math.random } = options;
    this.resource = resource;
    this.socket = socket;
    this.way = way;
    this.#options = options;
    this.#log = log.child({ resource, socket });
    this.#backoff = createBackoff({ initialMs: 500, maxMs: 30_000, jitter: 0.2, random });
    this.#identity = first?.identity;
    this.#sinceMs = clock.now();
    this.#run().catch((error: unknown) => this.#fail(error));
  }

  get state(): AttachmentState {
    return this.#state;
  }

  /** Wall clock, milliseconds: when this state began. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** Why the plugin was away last; undefined when it never was. */
  get lastError(): string | undefined {
    return this.#lastError;
  }

  /** The faults of its list. */
  get remarks(): readonly string[] {
    return this.#remarks;
  }

  [Symbol.dispose](): void {
    this.#end.abort();
  }

  async #run(): Promise<void> {
    let connection = this.#options.first;
    while (!this.#signal.aborted) {
      connection ??= await this.#connect();
      if (connection === undefined) break;
      if (this.#signal.aborted) return connection[Symbol.dispose]();
      await this.#serve(connection);
      connection = undefined;
      await this.#options.clock.sleep(this.#backoff.next(), this.#signal);
    }
    if (!this.#signal.aborted) this.#setState('ended');
  }

  #fail(error: unknown): void {
    this.#log.error({ err: error }, `a device plugin is not followed any more: ${describeError(error)}`);
    if (this.#signal.aborted) return;
    this.#lastError = describeError(error);
    this.#setState('ended');
    this.#options.inventory.away(this.resource);
  }

  /** Undefined when the plugin itself has to register again. */
  async #connect(): Promise<PluginConnection | undefined> {
    const { socket, way, clock, time } = this.#options;
    while (!this.#signal.aborted) {
      try {
        if (way === 'registration' && (await this.#presentIdentity()) !== this.#identity) return undefined;
        return await connectPlugin({ socket, clock, signal: this.#signal, time, patienceMs: 0 });
      } catch (error) {
        this.#lastError = describeError(error);
      }
      await clock.sleep(this.#backoff.next(), this.#signal);
    }
    return undefined;
  }

  #presentIdentity(): Promise<string | undefined> {
    return readIdentity(this.socket).catch(() => undefined);
  }

  async #serve(connection: PluginConnection): Promise<void> {
    using _connection = connection;
    const { inventory, clock, onAway } = this.#options;
    this.#identity = connection.identity;
    inventory.attached(this.resource, connection.options, connection.calls);
    this.#setState('listing');
    const startedMs = clock.monotonicMs();
    const why = await followList({
      connection,
      clock,
      signal: this.#signal,
      onList: (list) => this.#onList(list),
      onLate: () => this.#onLate(),
    });
    if (this.#signal.aborted) return;
    this.#lastError = why;
    this.#setState('away');
    inventory.away(this.resource);
    onAway?.();
    this.#log.warn(`the device plugin has left, its devices are unhealthy: ${why}`);
    if (clock.monotonicMs() - startedMs >= goodMs) this.#backoff.reset();
  }

  #onList({ devices, remarks }: DeviceList): void {
    if (this.#state === 'listing')
      this.#log.info({ devices: devices.size }, 'the device plugin lists its devices');
    this.#setState('serving');
    if (remarks.join() !== this.#remarks.join()) for (const remark of remarks) this.#log.warn(remark);
    this.#remarks = remarks;
    this.#options.inventory.listed(this.resource, devices);
  }

  #onLate(): void {
    this.#lastError = 'it has sent no list of devices yet';
    this.#log.warn('the device plugin has sent no list in time; its devices count as unhealthy');
    this.#options.inventory.doubted(this.resource);
  }

  #setState(next: AttachmentState): void {
    if (next === this.#state) return;
    this.#state = next;
    this.#sinceMs = this.#options.clock.now();
  }
}
