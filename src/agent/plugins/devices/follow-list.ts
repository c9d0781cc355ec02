import type { Clock } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { PluginConnection } from './connection.ts';
import type { DeviceList } from './device-list.ts';
import { readDevices } from './device-list.ts';
import { DevicePlugin } from './gen/device-plugin_pb.js';
import { times } from './limits.ts';

export interface FollowOptions {
  readonly connection: PluginConnection;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with the first list at once, and then at most ten times a second, with the newest list. */
  readonly onList: (list: DeviceList) => void;
  /** Called when the first list does not come in time; it may still come. */
  readonly onLate: () => void;
}

/** The minimum time between two messages: flow control of the connection then slows a plugin that sends too many. */
const minPaceMs = 5;
const devicesPerMs = 100;

/** Follows the lists of a plugin until the stream ends, and returns the reason of the end; never rejects. */
export async function followList(options: FollowOptions): Promise<string> {
  const { connection, clock, onList, onLate } = options;
  const end = new AbortController();
  const signal = AbortSignal.any([options.signal, end.signal]);
  const listed = new AbortController();
  const deliver = throttleToLatest(clock, signal, onList);
  void clock.sleep(times.firstListMs, AbortSignal.any([signal, listed.signal])).then(() => {
    if (!signal.aborted && !listed.signal.aborted) onLate();
  });
  try {
    const call = { deadlineMs: null, cancel: signal };
    for await (const message of connection.client.stream(DevicePlugin.method.listAndWatch, {}, call)) {
      listed.abort();
      deliver(readDevices(message));
      await clock.sleep(minPaceMs + message.devices.length / devicesPerMs, signal);
    }
    return 'it has ended its list of devices';
  } catch (error) {
    return describeError(error);
  } finally {
    end.abort();
  }
}

/** Drops lists that a newer one replaces before its time. */
function throttleToLatest(
  clock: Clock,
  signal: AbortSignal,
  deliver: (list: DeviceList) => void,
): (list: DeviceList) => void {
  let waiting: DeviceList | undefined;
  let isDelivering = false;

  async function deliverAll(): Promise<void> {
    isDelivering = true;
    while (waiting !== undefined && !signal.aborted) {
      const list = waiting;
      waiting = undefined;
      deliver(list);
      await clock.sleep(times.listSpacingMs, signal);
    }
    isDelivering = false;
  }

  return (list) => {
    waiting = list;
    if (!isDelivering) void deliverAll();
  };
}
