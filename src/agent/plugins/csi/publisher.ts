import type { Clock, Logger, Service } from '../../../base/index.ts';
import { createBackoff, createWaker } from '../../../base/index.ts';
import type { ApiCalls } from '../../../client/index.ts';
import { createOutageLog, retryAfterMs } from '../../../client/index.ts';
import { Publications } from './publications.ts';
import type { RemovalTimes } from './removal-delays.ts';
import { CsiNodeSync } from './sync.ts';
import type { CsiDriver, Publication } from './types.ts';

export interface PublisherOptions extends Partial<RemovalTimes> {
  readonly nodeName: string;
  readonly api: ApiCalls;
  readonly clock: Clock;
  readonly log: Logger;
  readonly dependsOn?: readonly string[];
  /** How often the CSINode is read when nothing changes here and there are drivers; default 30 s. */
  readonly resyncMs?: number;
  /** How often the Node is read; default 5 minutes. */
  readonly nodeLookMs?: number;
  /** A number in [0, 1); default Math.random. */
  readonly random?: () => number;
}

/** Publishes this node's CSI drivers in the API. */
export interface CsiPublisher {
  /** Sets the drivers to publish from now on. */
  publish(drivers: readonly CsiDriver[]): void;
  publicationOf(driver: CsiDriver): Publication;
  /** Waits until the publication of a driver has been tried once, at most `withinMs`. */
  waitForTry(driver: CsiDriver, withinMs: number, signal: AbortSignal): Promise<void>;
}

const jitter = 0.1;
/** The minimum time between two passes, however often a plugin comes and goes. */
const minSpacingMs = 200;

/**
 * The service `csi-node`: keeps the CSINode of this node, and on the Node the annotation with the drivers' ids and their
 * topology labels, in agreement with the registered drivers. Changes by other clients are corrected at the next pass. A
 * refused driver does not hold up others, and while the API is away it is tried again without end, after 200 ms to 30 s.
 */
export function createCsiPublisher(options: PublisherOptions): CsiPublisher & Service {
  const { clock, log, resyncMs = 30_000, random = Math.random } = options;
  const { lingerMs = 5000, graceMs = 300_000, nodeLookMs = 300_000 } = options;
  const waker = createWaker(clock);
  const publications = new Publications(clock);
  let drivers: readonly CsiDriver[] = [];
  const sync = new CsiNodeSync({ ...options, lingerMs, graceMs, nodeLookMs, publications });

  async function run(signal: AbortSignal, ready: () => void): Promise<void> {
    const outage = createOutageLog('tell the API of this node’s CSI drivers', clock, log);
    const backoff = createBackoff({ initialMs: 200, maxMs: resyncMs, jitter: 0.2, random });
    ready();
    while (!signal.aborted) {
      const startedMs = clock.monotonicMs();
      const outcome = await sync.run(drivers, signal);
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
    publicationOf: (driver) => publications.of(driver),
    waitForTry: (driver, withinMs, cancel) => publications.waitForTry(driver, withinMs, cancel),
  };
}
