import type { Client } from '@grpc/grpc-js';
import { connectivityState } from '@grpc/grpc-js';

/**
 * Keeps a connection, made anew whenever it was lost, and tells each time that it stands or stands no more, first how it is
 * now. Ends when `signal` aborts or the client is closed.
 */
export function followConnection(
  client: Client,
  listener: (isConnected: boolean) => void,
  signal: AbortSignal,
): void {
  const channel = client.getChannel();
  let told: boolean | undefined;

  function look(): void {
    if (signal.aborted) return;
    const state = channel.getConnectivityState(true); // asks for a connection where there is none
    if (state === connectivityState.SHUTDOWN) return;
    const isConnected = state === connectivityState.READY;
    if (isConnected !== told) {
      told = isConnected;
      listener(isConnected);
    }
    channel.watchConnectivityState(state, Infinity, look);
  }

  look();
}
