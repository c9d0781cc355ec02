import { lstat } from 'node:fs/promises';
import type { UnixClient } from '../../../base/grpc/index.ts';
import { GrpcError, grpcCodes, openUnixClient } from '../../../base/grpc/index.ts';
import type { Clock } from '../../../base/index.ts';
import { DevicePlugin } from './gen/device-plugin_pb.js';
import { limits, times } from './limits.ts';
import type { CallTimer } from './plugin-calls.ts';
import { createPluginCalls } from './plugin-calls.ts';
import type { DeviceOptions, DevicePluginCalls } from './types.ts';

/** A connection to a plugin, with the plugin's options. Disposing ends the calls under way. */
export interface PluginConnection extends Disposable {
  readonly client: UnixClient;
  readonly options: DeviceOptions;
  readonly calls: DevicePluginCalls;
  /** Identifies the socket: another server on the same path is another plugin. */
  readonly identity: string;
}

export interface ConnectOptions {
  /** Absolute path of the plugin's socket. */
  readonly socket: string;
  readonly clock: Clock;
  readonly time: CallTimer;
  readonly signal: AbortSignal;
  /** How long to wait for a plugin that does not listen yet; default 10 s, as the reference. */
  readonly patienceMs?: number;
}

/** How often a socket is tried on which no process listens yet. */
const retryMs = 100;

/**
 * Connects and asks the plugin for its options; waits for a plugin that does not listen yet. Rejects with an Error that says
 * why the plugin cannot be used.
 */
export async function connectPlugin(options: ConnectOptions): Promise<PluginConnection> {
  const { clock, signal, patienceMs = times.connectMs } = options;
  const endMs = clock.monotonicMs() + patienceMs;
  for (;;) {
    try {
      return await connectOnce(options);
    } catch (error) {
      const absent = error instanceof GrpcError && error.code === grpcCodes.UNAVAILABLE;
      if (!absent || signal.aborted || clock.monotonicMs() + retryMs >= endMs) throw error;
    }
    await clock.sleep(retryMs, signal);
    signal.throwIfAborted();
  }
}

async function connectOnce({ socket, signal, time }: ConnectOptions): Promise<PluginConnection> {
  const identity = await readIdentity(socket);
  const client = openUnixClient(socket, { maxMessageBytes: limits.messageBytes });
  try {
    const response = await client.unary(
      DevicePlugin.method.getDevicePluginOptions,
      {},
      { deadlineMs: times.connectMs, cancel: signal },
    );
    return {
      client,
      identity,
      options: {
        preStartRequired: response.preStartRequired,
        preferredAllocation: response.getPreferredAllocationAvailable,
      },
      calls: createPluginCalls(client, time),
      [Symbol.dispose]: () => client[Symbol.dispose](),
    };
  } catch (error) {
    client[Symbol.dispose]();
    throw error;
  }
}

/** Rejects with UNAVAILABLE when there is no file, as if no process listened, and with an Error when it is no socket. */
export async function readIdentity(socket: string): Promise<string> {
  const found = await lstat(socket, { bigint: true }).catch(() => undefined);
  if (found === undefined) throw new GrpcError(grpcCodes.UNAVAILABLE, `there is no socket ${socket}`);
  if (!found.isSocket()) throw new Error(`${socket} is no socket`);
  return `${found.dev}:${found.ino}:${found.birthtimeNs}`;
}
