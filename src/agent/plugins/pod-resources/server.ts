import { dirname } from 'node:path';
import { keepServing } from '../../../base/grpc/index.ts';
import type { Clock, Logger, MetricsRegistry, Service } from '../../../base/index.ts';
import { describeError, makeFolders } from '../../../base/index.ts';
import type { ListerOptions } from './lister.ts';
import { createLister } from './lister.ts';
import { podResourcesMetrics } from './metrics.ts';
import { podResourcesServices } from './services.ts';

export interface PodResourcesOptions extends ListerOptions {
  clock: Clock;
  log: Logger;
  metrics?: MetricsRegistry | undefined;
}

/** The limit of the reference's own client for a response. */
const maxMessageBytes = 16 * 1024 * 1024;

/** The limit of calls at a time; they are served from memory, at once. */
const maxCalls = 32;

/**
 * The pod resources service (specification 2.6): which containers of this node hold which devices, for monitoring agents
 * and the like. Returns the run function of a service that serves it at a socket of mode 0600, whose folders it creates; it
 * may be called for several sockets, each with a limit of its own. `ready` is called after the first try: a socket that cannot
 * be created is reported and tried again, one that was removed is created again.
 */
export function podResourcesServer(options: PodResourcesOptions): (socket: string) => Service['run'] {
  const { clock, log } = options;
  const lister = createLister(options);
  const count = podResourcesMetrics(options.metrics);
  return (socket) => async (signal, ready) => {
    let logged: string | undefined;
    const run = keepServing({
      path: socket,
      services: () => podResourcesServices(lister, count, clock),
      maxMessageBytes,
      maxCalls,
      clock,
      log,
      prepare: () => makeFolders(dirname(socket)),
      onServing() {
        logged = undefined;
      },
      onReplaced: () =>
        log.warn(
          { socket },
          'the socket of the pod resources service was removed or replaced; created again',
        ),
      onFailure(error) {
        const problem = `pod resources are not served: ${describeError(error)}`;
        if (problem !== logged) log.error({ err: error, socket }, `${problem}; it is tried again`);
        logged = problem;
      },
    });
    await run(signal, ready);
  };
}
