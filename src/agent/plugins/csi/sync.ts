import type { Clock, Logger } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { ApiCalls } from '../../../client/index.ts';
import type { StoredObjects } from './node-objects.ts';
import {
  isRace,
  isRefusal,
  listDriverNames,
  publishDriver,
  readCsiNode,
  readStored,
  withdrawDrivers,
} from './node-objects.ts';
import type { Publications } from './publications.ts';
import type { RemovalTimes } from './removal-delays.ts';
import { RemovalDelays } from './removal-delays.ts';
import type { CsiDriver } from './types.ts';

export interface SyncOptions extends RemovalTimes {
  readonly nodeName: string;
  readonly api: ApiCalls;
  readonly clock: Clock;
  readonly log: Logger;
  /** How often the Node is read when nothing has to be written. */
  readonly nodeLookMs: number;
  readonly publications: Publications;
}

/** The result of a pass: whether all drivers are published, and in how many milliseconds the next removal is due. */
export type Outcome = { isComplete: boolean; nextMs: number } | { error: unknown };

/** How often a pass is tried again at once after losing against a concurrent write. */
const maxTries = 5;

/** Compares the node's CSI drivers with what the API has of them, and writes the difference. */
export class CsiNodeSync {
  readonly #options: SyncOptions;
  readonly #delays: RemovalDelays;
  /** The objects after the last successful pass. */
  #last: { stored: StoredObjects; atMs: number } | undefined;

  constructor(options: SyncOptions) {
    this.#options = options;
    this.#delays = new RemovalDelays(options);
  }

  /** Does one pass. Never rejects. */
  async run(drivers: readonly CsiDriver[], signal: AbortSignal): Promise<Outcome> {
    const { clock, publications } = this.#options;
    for (let tries = 1; ; tries += 1) {
      try {
        const isComplete = await this.#pass(drivers, signal);
        return { isComplete, nextMs: this.#delays.nextMs(clock.monotonicMs()) };
      } catch (error) {
        if (tries < maxTries && isRace(error) && !signal.aborted) continue;
        if (!signal.aborted) {
          for (const driver of drivers.filter((each) => !this.#isPublished(each)))
            publications.set(driver, 'pending', describeError(error));
        }
        return { error };
      }
    }
  }

  async #pass(drivers: readonly CsiDriver[], signal: AbortSignal): Promise<boolean> {
    const { clock, log } = this.#options;
    const names = new Set(drivers.map(({ name }) => name));
    const last = this.#last;
    const hasGone = last !== undefined && [...listDriverNames(last.stored)].some((name) => !names.has(name));
    const isUpToDate = drivers.every((each) => this.#isPublished(each)) && !hasGone;
    const stored = await this.#read(isUpToDate, signal);
    if (stored === undefined) return true;
    const { now, isComplete } = await this.#publishAll(stored, drivers, signal);
    this.#delays.update(listDriverNames(now), names, clock.monotonicMs());
    const gone = this.#delays.due(clock.monotonicMs());
    const left = await withdrawDrivers(this.#options, now, gone, signal);
    if (gone.size > 0)
      log.info({ drivers: [...gone] }, 'CSI drivers that have gone are taken from the CSINode');
    this.#delays.update(listDriverNames(left), names, clock.monotonicMs());
    this.#last = { stored: left, atMs: clock.monotonicMs() };
    return isComplete;
  }

  /**
   * Reads both objects. When nothing has to be written only the CSINode is read; undefined when it has not changed since the
   * last pass.
   */
  async #read(isUpToDate: boolean, signal: AbortSignal): Promise<StoredObjects | undefined> {
    const { clock, nodeLookMs } = this.#options;
    const last = this.#last;
    const nowMs = clock.monotonicMs();
    const isRecent = last !== undefined && nowMs - last.atMs < nodeLookMs;
    if (isUpToDate && isRecent && this.#delays.due(nowMs).size === 0) {
      const csiNode = await readCsiNode(this.#options, signal);
      if (csiNode?.metadata?.resourceVersion === last?.stored.csiNode.metadata?.resourceVersion)
        return undefined;
    }
    return await readStored(this.#options, signal);
  }

  async #publishAll(stored: StoredObjects, drivers: readonly CsiDriver[], signal: AbortSignal) {
    let [now, isComplete] = [stored, true];
    for (const driver of drivers) {
      try {
        now = await publishDriver(this.#options, now, driver, signal);
        this.#options.publications.set(driver, 'published');
      } catch (error) {
        if (!isRefusal(error)) throw error;
        isComplete = false;
        this.#refuse(driver, describeError(error));
        now = await readStored(this.#options, signal); // a part may have been written
      }
    }
    return { now, isComplete };
  }

  /** The first refusal is not logged here: it fails the driver's registration, which reports it. */
  #refuse(driver: CsiDriver, problem: string): void {
    const { log, publications } = this.#options;
    const { state, problem: before } = publications.of(driver);
    const isNews = state === 'published' || (state === 'pending' && before !== undefined);
    if (isNews)
      log.warn({ driver: driver.name }, `a CSI driver cannot be entered in the CSINode: ${problem}`);
    publications.set(driver, 'refused', problem);
  }

  #isPublished(driver: CsiDriver): boolean {
    return this.#options.publications.of(driver).state === 'published';
  }
}
