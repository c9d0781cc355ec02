import { lstat } from 'node:fs/promises';
import { createBackoff } from '../backoff.ts';
import type { Clock } from '../clock.ts';
import type { Service } from '../lifecycle/index.ts';
import type { Implementation } from './implement.ts';
import type { UnixServerOptions } from './server.ts';
import { serveUnix } from './server.ts';

export interface KeptServerOptions extends Omit<UnixServerOptions, 'services'> {
  readonly clock: Clock;
  /** Called for each server that is made. */
  services(): readonly Implementation[];
  /** Called before a server is made, for the socket's folder. */
  prepare(): Promise<void>;
  /** Called when the socket is there. */
  onServing(): void;
  /** Called when the socket was removed or replaced by somebody else; it is made again. */
  onReplaced(): void;
  /** Called with the reason whenever the socket cannot be made; it is tried again. */
  onFailure(error: unknown): void;
  /** Between two looks whether the socket is still there; default 5 s. */
  readonly lookMs?: number;
}

/** The run of a service that serves gRPC on a unix socket until its signal aborts. It is ready after the first try. */
export function keepServing(options: KeptServerOptions): Service['run'] {
  const { path, clock, lookMs = 5000 } = options;

  async function serveWhileThere(signal: AbortSignal, onServing: () => void): Promise<void> {
    await options.prepare();
    await using _server = await serveUnix({ ...options, services: options.services() });
    const identity = await identityOf(path);
    onServing();
    do await clock.sleep(lookMs, signal);
    while (!signal.aborted && (await identityOf(path)) === identity);
  }

  return async (signal, ready) => {
    const backoff = createBackoff({ initialMs: 500, maxMs: 15_000 });
    const onServing = () => {
      backoff.reset();
      options.onServing();
      ready();
    };
    while (!signal.aborted) {
      try {
        await serveWhileThere(signal, onServing);
        if (!signal.aborted) options.onReplaced();
      } catch (error) {
        options.onFailure(error);
        ready();
        await clock.sleep(backoff.next(), signal);
      }
    }
  };
}

async function identityOf(path: string): Promise<string | undefined> {
  const found = await lstat(path, { bigint: true }).catch(() => undefined);
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
}
