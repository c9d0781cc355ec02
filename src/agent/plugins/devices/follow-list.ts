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
  /** Called with the first list at once, and then at most ten times in a second, with the newest. */
  readonly onList: (list: DeviceList) => void;
  /** There is no first list in time; it may still come. */
  readonly onLate: () => void;
}

/** Between two messages, so that a plugin that floods is held back by its own connection and not by this process. */
const minPaceMs = 5;
const devicesPerMs = 100;

/** Follows what a plugin lists until that ends, and answers why; never rejects. */
export async function followList(options: FollowOptions): Promise<string> {
  const { connection, clock, onList, onLate } = options;
  const end = new AbortController();
  const signal = AbortSignal.any([options.signal, end.signal]);
  const listed = new AbortController();
  const give = latestOnly(clock, signal, onList);
  void clock.sleep(times.firstListMs, AbortSignal.any([signal, listed.signal])).then(() => {
    if (!signal.aborted && !listed.signal.aborted) onLate();
  });
  try {
    const call = { deadlineMs: null, cancel: signal };
    for await (const message of connection.client.stream(DevicePlugin.method.listAndWatch, {}, call)) {
      listed.abort();
      give(readDevices(message));
      await clock.sleep(minPaceMs + message.devices.length / devicesPerMs, signal);
    }
    return 'it has ended its list of devices';
  } catch (error) {
    return describeError(error);
  } finally {
    end.abort();
  }
}

function latestOnly(
  clock: Clock,
  signal: AbortSignal,
  give: (list: DeviceList) => void,
): (list: DeviceList) => void {
  let waiting: DeviceList | undefined;
  let giving = false;

  async function giveAll(): Promise<void> {
    giving = true;
    while (waiting !== undefined && !signal.aborted) {
      const list = waiting;
      waiting = undefined;
      give(list);
      await clock.sleep(times.listSpacingMs, signal);
    }
    giving = false;
  }

  return (list) => {
    waiting = list;
    if (!giving) void giveAll();
  };
}
