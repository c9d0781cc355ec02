import { lstat, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { serveUnix } from '../../../base/grpc/index.ts';
import type { Clock, Logger, Registry, Service } from '../../../base/index.ts';
import { createBackoff, describeError, errorCode } from '../../../base/index.ts';
import type { ListerOptions } from './lister.ts';
import { createLister } from './lister.ts';
import { podResourcesMetrics } from './metrics.ts';
import { podResourcesServices } from './services.ts';

export interface PodResourcesOptions extends ListerOptions {
  clock: Clock;
  log: Logger;
  metrics?: Registry | undefined;
}

/** What the reference's own client takes of an answer. */
const maxMessageBytes = 16 * 1024 * 1024;

/** At a time; they are answered from memory, at once. */
const maxCalls = 32;

/** Between two looks whether the socket is still there. */
const lookMs = 5000;

/**
 * The pod resources service (specification 2.6): which containers of this node hold which devices, for monitoring agents
 * and the like. Answers the run of a service that serves it at a socket of mode 0600, whose folders it makes; it may be
 * called for several sockets, each with a limit of its own. `ready` is called after the first try: a socket that cannot
 * be made is told and tried again, one that was removed is made anew.
 */
export function podResourcesServer(options: PodResourcesOptions): (socket: string) => Service['run'] {
  const { clock, log } = options;
  const lister = createLister(options);
  const count = podResourcesMetrics(options.metrics);

  async function serveWhileThere(socket: string, signal: AbortSignal, ready: () => void): Promise<void> {
    await makeFolder(dirname(dirname(socket)));
    await makeFolder(dirname(socket));
    const services = podResourcesServices(lister, count, clock);
    await using _server = await serveUnix({ path: socket, services, maxMessageBytes, maxCalls, log });
    const identity = await identityOf(socket);
    ready();
    do await clock.sleep(lookMs, signal);
    while (!signal.aborted && (await identityOf(socket)) === identity);
  }

  return (socket) => async (signal, ready) => {
    const backoff = createBackoff({ initialMs: 500, maxMs: 15_000 });
    let told: string | undefined;
    while (!signal.aborted) {
      try {
        await serveWhileThere(socket, signal, () => {
          told = undefined;
          backoff.reset();
          ready();
        });
        if (!signal.aborted)
          log.warn({ socket }, 'the socket of the pod resources service was removed or replaced; made anew');
      } catch (error) {
        const problem = `pod resources are not served: ${describeError(error)}`;
        if (problem !== told) log.error({ err: error, socket }, `${problem}; it is tried again`);
        told = problem;
        ready();
        await clock.sleep(backoff.next(), signal);
      }
    }
  };
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error; // what is no folder fails when the socket is made in it
  }
}

async function identityOf(path: string): Promise<string | undefined> {
  const found = await lstat(path, { bigint: true }).catch(() => undefined);
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
}
