import type { Clock, Logger, Service } from '../../../base/index.ts';
import { createBackoff, createWaker } from '../../../base/index.ts';
import type { ApiCalls } from '../../../client/index.ts';
import { createOutageLog, retryAfterMs } from '../../../client/index.ts';
import { createPublications } from './publications.ts';
import type { DepartureTimes } from './removal-delays.ts';
import { createRound } from './sync.ts';
import type { CsiDriver, Publication } from './types.ts';

export interface PublisherOptions extends Partial<DepartureTimes> {
  readonly nodeName: string;
  readonly api: ApiCalls;
  readonly clock: Clock;
  readonly log: Logger;
  readonly dependsOn?: readonly string[];
  /** Between two looks at the CSINode when nothing changes here and there are drivers; default 30 s. */
  readonly resyncMs?: number;
  /** Between two looks at the Node; default 5 minutes. */
  readonly nodeLookMs?: number;
  /** A number in [0, 1); default Math.random. */
  readonly random?: () => number;
}

/** Keeps the cluster told of this node's CSI drivers. */
export interface CsiPublisher {
  /** What it is to tell, from now on. */
  publish(drivers: readonly CsiDriver[]): void;
  publicationOf(driver: CsiDriver): Publication;
  /** Waits until the API has been asked about a driver once, at most so long. */
  tried(driver: CsiDriver, withinMs: number, signal: AbortSignal): Promise<void>;
}

const jitter = 0.1;
/** However often a plugin comes and goes, the API is not asked more often. */
const minSpacingMs = 200;

/**
 * The service `csi-node`: keeps the CSINode of this node, the annotation with the drivers' ids and their topology labels on
 * the Node as the registered drivers say. What others change or delete of it is put right at the next look. A driver that is
 * refused holds up no other, and an API that is away is asked again for ever, after 200 ms to 30 s.
 */
export function createCsiPublisher(options: PublisherOptions): CsiPublisher & Service {
  const { clock, log, resyncMs = 30_000, random = Math.random } = options;
  const { lingerMs = 5000, graceMs = 300_000, nodeLookMs = 300_000 } = options;
  const waker = createWaker(clock);
  const publications = createPublications(clock);
  let drivers: readonly CsiDriver[] = [];
  const round = createRound({ ...options, lingerMs, graceMs, nodeLookMs, publications });

  async function run(signal: AbortSignal, ready: () => void): Promise<void> {
    const outage = createOutageLog('tell the API of this node’s CSI drivers', clock, log);
    const backoff = createBackoff({ initialMs: 200, maxMs: resyncMs, jitter: 0.2, random });
    ready();
    while (!signal.aborted) {
      const startedMs = clock.monotonicMs();
      const outcome = await round.once(drivers, signal);
      if (signal.aborted) return;
      if ('error' in outcome) {
        outage.failed(outcome.error);
        await waker.sleep(Math.max(backoff.next(), Math.min(retryAfterMs(outcome.error), resyncMs)), signal);
      } else {
        outage.succeeded();
        if (outcome.isComplete) backoff.reset();
        const restMs = drivers.length === 0 ? nodeLookMs : resyncMs;
        const pauseMs = outcome.isComplete ? restMs * (1 - jitter * random()) : backoff.next();
        await waker.sleep(Math.min(pauseMs, outcome.nextMs), signal);
      }
      await clock.sleep(startedMs + minSpacingMs - clock.monotonicMs(), signal);
    }
  }

  return {
    name: 'csi-node',
    dependsOn: options.dependsOn ?? [],
    onFailure: 'restart',
    run,
    publish(next) {
      drivers = next;
      publications.keep(next);
      waker.wake();
    },
    publicationOf: publications.of,
    tried: publications.tried,
  };
}
