import { lstat } from 'node:fs/promises';
import { createBackoff } from '../backoff.ts';
import type { Clock } from '../clock.ts';
import type { Service } from '../lifecycle/index.ts';
import type { Implementation } from './implement.ts';
import type { UnixServerOptions } from './server.ts';
import { serveUnix } from './server.ts';

export interface KeptServerOptions extends Omit<UnixServerOptions, 'services'> {
  readonly clock: Clock;
  /** Called for each server that is created. */
  services(): readonly Implementation[];
  /** Called before a server is created, to prepare the socket's folder. */
  prepare(): Promise<void>;
  /** Called when the socket exists. */
  onServing(): void;
  /** Called when another process has removed or replaced the socket, before it is created again. */
  onReplaced(): void;
  /** Called whenever the socket cannot be created, before the next attempt. */
  onFailure(error: unknown): void;
  /** Between two checks that the socket still exists; default 5 s. */
  readonly lookMs?: number;
}

/** Returns the `run` of a service that serves gRPC on a unix socket. It is ready after the first attempt to create it. */
export function keepServing(options: KeptServerOptions): Service['run'] {
  const { path, clock, lookMs = 5000 } = options;

  async function serveUntilReplaced(signal: AbortSignal, onServing: () => void): Promise<void> {
    await options.prepare();
    await using _server = await serveUnix({ ...options, services: options.services() });
    const identity = await readIdentity(path);
    onServing();
    do await clock.sleep(lookMs, signal);
    while (!signal.aborted && (await readIdentity(path)) === identity);
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
        await serveUntilReplaced(signal, onServing);
        if (!signal.aborted) options.onReplaced();
      } catch (error) {
        options.onFailure(error);
        ready();
        await clock.sleep(backoff.next(), signal);
      }
    }
  };
}

async function readIdentity(path: string): Promise<string | undefined> {
  const found = await lstat(path, { bigint: true }).catch(() => undefined);
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
}
