import type { UnixClient } from '../../../base/grpc/index.ts';
import { openUnixClient } from '../../../base/grpc/index.ts';
import type { Clock } from '../../../base/index.ts';
import type { PluginInfo } from '../index.ts';
import type { ChosenService } from './service.ts';

/** One process of a driver: what is behind one registration socket. Disposing ends its calls and its connection. */
export interface DraInstance extends Disposable {
  readonly plugin: PluginInfo;
  readonly chosen: ChosenService;
  readonly client: UnixClient;
  /** Whether the connection stands, and since when it does or does not (wall clock, milliseconds). */
  readonly link: { readonly isConnected: boolean; readonly sinceMs: number };
}

export interface InstanceOptions {
  readonly plugin: PluginInfo;
  readonly chosen: ChosenService;
  readonly clock: Clock;
  /** Called on every change of the connection. */
  readonly onLink: (instance: DraInstance) => void;
}

/** Of the devices of all claims of a call. */
const maxMessageBytes = 4 * 1024 * 1024;

/** Connects at once, so that it is seen early whether somebody is there, and again whenever the connection is lost. */
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
 * In the order in which they are asked: those with a connection first, and of those the one made last. After a start of the
 * agent they register in any order, so it is the age of the socket that counts.
 */
export function inOrder(instances: Iterable<DraInstance>): DraInstance[] {
  return [...instances].sort(
    (one, other) =>
      Number(other.link.isConnected) - Number(one.link.isConnected) ||
      other.plugin.madeMs - one.plugin.madeMs,
  );
}
