import type { Client } from '@grpc/grpc-js';
import { connectivityState } from '@grpc/grpc-js';
import { createBackoff } from '../backoff.ts';

/** A connection that stood so long was a good one. */
const steadyMs = 10_000;

/**
 * Keeps a connection and tells each time that it stands or stands no more, first how it is now. One that was lost is made
 * anew after 200 ms, or later, up to 30 s, where it is lost at once again and again. Ends when `signal` aborts or the client is
 * closed.
 */
export function followConnection(
  client: Client,
  listener: (isConnected: boolean) => void,
  signal: AbortSignal,
): void {
  const channel = client.getChannel();
  const backoff = createBackoff({ initialMs: 200, maxMs: 30_000 });
  let told: boolean | undefined;
  let sinceMs = 0;
  let timer: NodeJS.Timeout | undefined;

  function tell(isConnected: boolean): void {
    if (isConnected === told) return;
    if (isConnected) sinceMs = performance.now();
    else if (performance.now() - sinceMs > steadyMs) backoff.reset();
    told = isConnected;
    listener(isConnected);
  }

  function look(): void {
    if (signal.aborted) return;
    const state = channel.getConnectivityState(told === undefined); // the first connection is asked for at once
    if (state === connectivityState.SHUTDOWN) return;
    const isLost = told === true && state !== connectivityState.READY;
    tell(state === connectivityState.READY);
    if (isLost)
      timer = setTimeout(() => signal.aborted || channel.getConnectivityState(true), backoff.next());
    channel.watchConnectivityState(state, Infinity, look);
  }

  signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  look();
}
