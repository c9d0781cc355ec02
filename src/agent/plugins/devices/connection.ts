import { lstat } from 'node:fs/promises';
import type { UnixClient } from '../../../base/grpc/index.ts';
import { GrpcError, grpcCodes, openUnixClient } from '../../../base/grpc/index.ts';
import type { Clock } from '../../../base/index.ts';
import { DevicePlugin } from './gen/device-plugin_pb.js';
import { limits, times } from './limits.ts';
import type { CallTimer } from './plugin-calls.ts';
import { pluginCalls } from './plugin-calls.ts';
import type { DeviceOptions, DevicePluginCalls } from './types.ts';

/** A plugin that has told its options. Disposing ends the calls under way. */
export interface PluginConnection extends Disposable {
  readonly client: UnixClient;
  readonly options: DeviceOptions;
  readonly calls: DevicePluginCalls;
  /** Which socket it was: another server on the same path is another plugin. */
  readonly identity: string;
}

export interface ConnectOptions {
  /** Absolute path of the plugin's socket. */
  readonly socket: string;
  readonly clock: Clock;
  readonly time: CallTimer;
  readonly signal: AbortSignal;
  /** How long a plugin that does not listen yet is waited for; default as the reference, 10 s. */
  readonly patienceMs?: number;
}

/** Between two looks for a socket where nobody listens yet. */
const lookMs = 100;

/**
 * Asks the plugin for its options; a plugin that does not listen yet is waited for. Rejects with an Error that tells why
 * it cannot be used.
 */
export async function connectPlugin(options: ConnectOptions): Promise<PluginConnection> {
  const { clock, signal, patienceMs = times.connectMs } = options;
  const endMs = clock.monotonicMs() + patienceMs;
  for (;;) {
    try {
      return await connectOnce(options);
    } catch (error) {
      const absent = error instanceof GrpcError && error.code === grpcCodes.UNAVAILABLE;
      if (!absent || signal.aborted || clock.monotonicMs() + lookMs >= endMs) throw error;
    }
    await clock.sleep(lookMs, signal);
    signal.throwIfAborted();
  }
}

async function connectOnce({ socket, signal, time }: ConnectOptions): Promise<PluginConnection> {
  const identity = await identityOf(socket);
  const client = openUnixClient(socket, { maxMessageBytes: limits.messageBytes });
  try {
    const told = await client.unary(
      DevicePlugin.method.getDevicePluginOptions,
      {},
      { deadlineMs: times.connectMs, cancel: signal },
    );
    return {
      client,
      identity,
      options: {
        preStartRequired: told.preStartRequired,
        preferredAllocation: told.getPreferredAllocationAvailable,
      },
      calls: pluginCalls(client, time),
      [Symbol.dispose]: () => client[Symbol.dispose](),
    };
  } catch (error) {
    client[Symbol.dispose]();
    throw error;
  }
}

/** Rejects as though nobody listened where there is nothing, and with an Error where there is something else. */
export async function identityOf(socket: string): Promise<string> {
  const found = await lstat(socket, { bigint: true }).catch(() => undefined);
  if (found === undefined) throw new GrpcError(grpcCodes.UNAVAILABLE, `there is no socket ${socket}`);
  if (!found.isSocket()) throw new Error(`${socket} is no socket`);
  return `${found.dev}:${found.ino}:${found.birthtimeNs}`;
}
