import type { Clock, Logger } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { ApiCalls } from '../../../client/index.ts';
import type { Publications } from './publications.ts';
import type { Stored } from './publish.ts';
import {
  isRace,
  isRefusal,
  namesIn,
  publishDriver,
  readCsiNode,
  readStored,
  withdrawDrivers,
} from './publish.ts';
import type { DepartureTimes } from './removal-delays.ts';
import { createDepartures } from './removal-delays.ts';
import type { CsiDriver } from './types.ts';

export interface RoundOptions extends DepartureTimes {
  readonly nodeName: string;
  readonly api: ApiCalls;
  readonly clock: Clock;
  readonly log: Logger;
  /** Between two looks at the Node where nothing is to do. */
  readonly nodeLookMs: number;
  readonly publications: Publications;
}

/** How a round ended: whether all is told, and in how many milliseconds something is to be withdrawn. */
export type Outcome = { isComplete: boolean; nextMs: number } | { error: unknown };

/** One look at what the API tells of the drivers, and what it takes to make it true. */
export interface Round {
  /** Never rejects. */
  once(drivers: readonly CsiDriver[], signal: AbortSignal): Promise<Outcome>;
}

const attemptLimit = 5;

export function createRound(options: RoundOptions): Round {
  const { clock, log, nodeLookMs, publications } = options;
  const isTold = (driver: CsiDriver) => publications.of(driver).state === 'published';
  const departures = createDepartures(options);
  let last: { stored: Stored; atMs: number } | undefined;

  /** The whole look only where something may be to do; else that the CSINode is as it was left. */
  async function look(isAllTold: boolean, signal: AbortSignal): Promise<Stored | undefined> {
    const nowMs = clock.monotonicMs();
    const isRecent = last !== undefined && nowMs - last.atMs < nodeLookMs;
    if (isAllTold && isRecent && departures.due(nowMs).size === 0) {
      const csiNode = await readCsiNode(options, signal);
      if (csiNode?.metadata?.resourceVersion === last?.stored.csiNode.metadata?.resourceVersion)
        return undefined;
    }
    return await readStored(options, signal);
  }

  /** The first time its registration fails, which is told there. */
  function refused(driver: CsiDriver, problem: string): void {
    const { state, problem: before } = publications.of(driver);
    const isNews = state === 'published' || (state === 'pending' && before !== undefined);
    if (isNews) log.warn({ driver: driver.name }, `the cluster cannot be told of a CSI driver: ${problem}`);
    publications.set(driver, 'refused', problem);
  }

  async function put(stored: Stored, drivers: readonly CsiDriver[], signal: AbortSignal) {
    let [now, isComplete] = [stored, true];
    for (const driver of drivers) {
      try {
        now = await publishDriver(options, now, driver, signal);
        publications.set(driver, 'published');
      } catch (error) {
        if (!isRefusal(error)) throw error;
        isComplete = false;
        refused(driver, describeError(error));
        now = await readStored(options, signal); // a part may have been written
      }
    }
    return { now, isComplete };
  }

  async function attempt(
    drivers: readonly CsiDriver[],
    isAllTold: boolean,
    signal: AbortSignal,
  ): Promise<boolean> {
    const stored = await look(isAllTold, signal);
    if (stored === undefined) return true;
    const { now, isComplete } = await put(stored, drivers, signal);
    departures.note(namesIn(now), new Set(drivers.map(({ name }) => name)), clock.monotonicMs());
    const gone = departures.due(clock.monotonicMs());
    const left = await withdrawDrivers(options, now, gone, signal);
    if (gone.size > 0)
      log.info({ drivers: [...gone] }, 'CSI drivers that have gone are taken from the CSINode');
    departures.note(namesIn(left), new Set(drivers.map(({ name }) => name)), clock.monotonicMs());
    last = { stored: left, atMs: clock.monotonicMs() };
    return isComplete;
  }

  return {
    async once(drivers, signal) {
      const names = new Set(drivers.map(({ name }) => name));
      for (let tries = 1; ; tries += 1) {
        try {
          const hasGone = last !== undefined && [...namesIn(last.stored)].some((name) => !names.has(name));
          const isComplete = await attempt(drivers, drivers.every(isTold) && !hasGone, signal);
          return { isComplete, nextMs: departures.nextMs(clock.monotonicMs()) };
        } catch (error) {
          if (tries < attemptLimit && isRace(error) && !signal.aborted) continue;
          if (!signal.aborted) {
            for (const driver of drivers.filter((each) => !isTold(each)))
              publications.set(driver, 'pending', describeError(error));
          }
          return { error };
        }
      }
    },
  };
}
