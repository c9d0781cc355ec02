import type { UnixClient } from '../../../base/grpc/index.ts';
import { openUnixClient } from '../../../base/grpc/index.ts';
import type { Clock } from '../../../base/index.ts';
import type { PluginInfo } from '../index.ts';
import type { ChosenService } from './service.ts';

/** One process of a driver, behind one registration socket. Disposing ends its calls and its connection. */
export interface DraInstance extends Disposable {
  readonly plugin: PluginInfo;
  readonly chosen: ChosenService;
  readonly client: UnixClient;
  /** The state of the connection, and since when (wall clock, milliseconds). */
  readonly link: { readonly isConnected: boolean; readonly sinceMs: number };
}

export interface InstanceOptions {
  readonly plugin: PluginInfo;
  readonly chosen: ChosenService;
  readonly clock: Clock;
  /** Called on every change of the connection. */
  readonly onLink: (instance: DraInstance) => void;
}

/** A message has the devices of all claims of a call. */
const maxMessageBytes = 4 * 1024 * 1024;

/** Connects at once, so that an unreachable driver is noticed early, and again whenever the connection is lost. */
export function openInstance({ plugin, chosen, clock, onLink }: InstanceOptions): DraInstance {
  const client = openUnixClient(plugin.endpoint, { maxMessageBytes });
  let link = { isConnected: false, sinceMs: clock.now() };
  const instance: DraInstance = {
    plugin,
    chosen,
    client,
    get link() {
      return link;
    },
    [Symbol.dispose]: () => client[Symbol.dispose](),
  };
  client.follow((isConnected) => {
    if (isConnected === link.isConnected) return;
    link = { isConnected, sinceMs: clock.now() };
    onLink(instance);
  });
  return instance;
}

/**
 * Sorts instances in the order in which they are called: those with a connection first, and then those with the newest
 * socket. The age of the socket is used because after a start of the agent instances register in any order.
 */
export function sortByPreference(instances: Iterable<DraInstance>): DraInstance[] {
  return [...instances].sort(
    (one, other) =>
      Number(other.link.isConnected) - Number(one.link.isConnected) ||
      other.plugin.madeMs - one.plugin.madeMs,
  );
}
