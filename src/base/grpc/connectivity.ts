import type { Client } from '@grpc/grpc-js';
import { connectivityState } from '@grpc/grpc-js';
import { createBackoff } from '../backoff.ts';

/** A connection that has lasted so long resets the backoff. */
const stableMs = 10_000;

/**
 * Keeps a connection, and calls `listener` with its state now and whenever it is made or lost. A lost connection is made
 * again after 200 ms, with a backoff of up to 30 s where it is lost at once repeatedly. Ends when `signal` aborts or the
 * client is closed.
 */
export function followConnection(
  client: Client,
  listener: (isConnected: boolean) => void,
  signal: AbortSignal,
): void {
  const channel = client.getChannel();
  const backoff = createBackoff({ initialMs: 200, maxMs: 30_000 });
  let reported: boolean | undefined;
  let sinceMs = 0;
  let timer: NodeJS.Timeout | undefined;

  function report(isConnected: boolean): void {
    if (isConnected === reported) return;
    if (isConnected) sinceMs = performance.now();
    else if (performance.now() - sinceMs > stableMs) backoff.reset();
    reported = isConnected;
    listener(isConnected);
  }

  function check(): void {
    if (signal.aborted) return;
    const state = channel.getConnectivityState(reported === undefined); // starts the first connection at once
    if (state === connectivityState.SHUTDOWN) return;
    const isLost = reported === true && state !== connectivityState.READY;
    report(state === connectivityState.READY);
    if (isLost)
      timer = setTimeout(() => signal.aborted || channel.getConnectivityState(true), backoff.next());
    channel.watchConnectivityState(state, Infinity, check);
  }

  signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  check();
}

/** Tries to connect, with the backoff of the client, until it has or `signal` aborts; resolves to which of both. */
export async function untilConnected(client: Client, signal: AbortSignal): Promise<boolean> {
  const channel = client.getChannel();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const check = (): void => {
    if (signal.aborted) return;
    const state = channel.getConnectivityState(true);
    if (state === connectivityState.READY) resolve(true);
    else if (state !== connectivityState.SHUTDOWN) channel.watchConnectivityState(state, Infinity, check);
  };
  const abort = () => resolve(false);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  check();
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
