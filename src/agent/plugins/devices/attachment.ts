import type { Clock, Logger } from '../../../base/index.ts';
import { createBackoff, describeError } from '../../../base/index.ts';
import type { ConnectOptions, PluginConnection } from './connection.ts';
import { connectPlugin, identityOf } from './connection.ts';
import { followList } from './follow-list.ts';
import type { Inventory } from './inventory.ts';

/** How a plugin has made itself known: by calling the agent, or by a socket in the plugin registry. */
export type Way = 'registration' | 'registry';

/**
 *     connecting ─► listing ─► serving ─► away ─► connecting …
 *                                           └─► ended   its socket is another: the plugin registers again
 */
export type AttachmentState = 'connecting' | 'listing' | 'serving' | 'away' | 'ended';

/** A registered plugin, for as long as it counts for its resource. */
export interface Attachment extends Disposable {
  readonly resource: string;
  /** Absolute path of the plugin's own socket. */
  readonly socket: string;
  readonly way: Way;
  readonly state: AttachmentState;
  /** Wall clock, milliseconds: when this state began. */
  readonly sinceMs: number;
  /** Why it was away last; undefined where it never was. */
  readonly lastError: string | undefined;
  /** What is wrong with its list. */
  readonly remarks: readonly string[];
}

export interface AttachmentOptions {
  readonly resource: string;
  readonly socket: string;
  readonly way: Way;
  /** Connected already; without it that is done first. */
  readonly first?: PluginConnection;
  readonly inventory: Inventory;
  readonly clock: Clock;
  readonly log: Logger;
  readonly time: ConnectOptions['time'];
  readonly random?: () => number;
  /** Called once for each time that the plugin leaves. */
  readonly onAway?: () => void;
}

/** A connection that has lasted so long was a good one: the next wait is a short one again. */
const goodMs = 60_000;

/**
 * Keeps the inventory told of one plugin until it is disposed of, which leaves the inventory as it is. When its list ends
 * its devices are unhealthy at once. The plugin is looked for again, with growing waits, on the same socket; one that
 * called to register and is gone with its socket has to call again.
 */
export function attach(options: AttachmentOptions): Attachment {
  const { resource, socket, way, first, inventory, clock, random = Math.random } = options;
  const log = options.log.child({ resource, socket });
  const end = new AbortController();
  const { signal } = end;
  const backoff = createBackoff({ initialMs: 500, maxMs: 30_000, jitter: 0.2, random });
  let identity = first?.identity;
  let state: AttachmentState = 'connecting';
  let sinceMs = clock.now();
  let lastError: string | undefined;
  let remarks: readonly string[] = [];

  function become(next: AttachmentState): void {
    if (next === state) return;
    state = next;
    sinceMs = clock.now();
  }

  async function serve(connection: PluginConnection): Promise<void> {
    using _connection = connection;
    identity = connection.identity;
    inventory.attached(resource, connection.options, connection.calls);
    become('listing');
    const startedMs = clock.monotonicMs();
    const why = await followList({
      connection,
      clock,
      signal,
      onList(list) {
        if (state === 'listing')
          log.info({ devices: list.devices.size }, 'the device plugin lists its devices');
        become('serving');
        if (list.remarks.join() !== remarks.join()) for (const remark of list.remarks) log.warn(remark);
        ({ remarks } = list);
        inventory.listed(resource, list.devices);
      },
      onLate() {
        lastError = 'it has sent no list of devices yet';
        log.warn('the device plugin has sent no list in time; its devices count as unhealthy');
        inventory.doubted(resource);
      },
    });
    if (signal.aborted) return;
    lastError = why;
    become('away');
    inventory.away(resource);
    options.onAway?.();
    log.warn(`the device plugin has left, its devices are unhealthy: ${why}`);
    if (clock.monotonicMs() - startedMs >= goodMs) backoff.reset();
  }

  /** Undefined when it is not for the agent to look for it any more. */
  async function find(): Promise<PluginConnection | undefined> {
    while (!signal.aborted) {
      try {
        if (way === 'registration' && (await identityNow()) !== identity) return undefined;
        return await connectPlugin({ socket, clock, signal, time: options.time, patienceMs: 0 });
      } catch (error) {
        lastError = describeError(error);
      }
      await clock.sleep(backoff.next(), signal);
    }
    return undefined;
  }

  const identityNow = () => identityOf(socket).catch(() => undefined);

  async function run(): Promise<void> {
    let connection = first;
    while (!signal.aborted) {
      connection ??= await find();
      if (connection === undefined) break;
      if (signal.aborted) return connection[Symbol.dispose]();
      await serve(connection);
      connection = undefined;
      await clock.sleep(backoff.next(), signal);
    }
    if (!signal.aborted) become('ended');
  }

  run().catch((error: unknown) => {
    log.error({ err: error }, `a device plugin is not followed any more: ${describeError(error)}`);
    if (signal.aborted) return;
    lastError = describeError(error);
    become('ended');
    inventory.away(resource);
  });

  return {
    resource,
    socket,
    way,
    get state() {
      return state;
    },
    get sinceMs() {
      return sinceMs;
    },
    get lastError() {
      return lastError;
    },
    get remarks() {
      return remarks;
    },
    [Symbol.dispose]: () => end.abort(),
  };
}
