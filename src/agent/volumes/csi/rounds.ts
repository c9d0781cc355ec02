import type { Pod } from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { Happening } from '../../node/events/index.ts';

export interface RoundsOptions {
  /** Reports an Event about a pod. */
  report(pod: Pod, happening: Happening): void;
  /** Between two looks at a volume; default as in the reference. */
  readonly lookMs?: number | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A volume that is looked at again and again. */
export interface VisitedVolume {
  readonly pod: Pod;
  readonly uid: string;
  /** As the pod names it. */
  readonly inPod: string;
  readonly driver: string;
  /** False: it need not be looked at any more. */
  visit(signal: AbortSignal): Promise<boolean>;
}

interface Entry {
  readonly volume: VisitedVolume;
  /** By the monotonic clock. */
  dueMs: number;
  problem: string | undefined;
}

/** As the reference looks at each pod (`syncFrequency`). */
const defaultLookMs = 60_000;
const maxFailedMs = 15_000;

/** What a failure is called. */
export interface RoundsFailure {
  /** Of the Event, such as `FailedMount`. */
  readonly reason: string;
  /** Such as `MountVolume.SetUp`. */
  readonly step: string;
}

/**
 * Does something with volumes that are in use, again and again. One volume of a driver at a time; drivers do not wait for each
 * other. A failure is reported, and the volume stays as it is.
 */
export class VolumeRounds {
  readonly #options: RoundsOptions;
  readonly #failure: RoundsFailure;
  readonly #lookMs: number;
  /** By driver, then by pod and volume. */
  readonly #drivers = new Map<string, Map<string, Entry>>();
  readonly #end = new AbortController();

  constructor(options: RoundsOptions, failure: RoundsFailure) {
    this.#options = options;
    this.#failure = failure;
    this.#lookMs = options.lookMs ?? defaultLookMs;
  }

  /** From now on, again and again. */
  add(volume: VisitedVolume): void {
    const key = `${volume.uid}/${volume.inPod}`;
    const known = this.#drivers.get(volume.driver);
    const dueMs = this.#options.clock.monotonicMs() + this.#lookMs;
    if (known !== undefined) return void known.set(key, { volume, dueMs, problem: undefined });
    const entries = new Map([[key, { volume, dueMs, problem: undefined }]]);
    this.#drivers.set(volume.driver, entries);
    void this.#keepVisiting(volume.driver, entries);
  }

  has(uid: string, inPod: string): boolean {
    return this.#drivers.values().some((entries) => entries.has(`${uid}/${inPod}`));
  }

  /** Not those of that pod any more. */
  forget(uid: string): void {
    for (const entries of this.#drivers.values())
      for (const key of entries.keys()) if (key.startsWith(`${uid}/`)) entries.delete(key);
  }

  close(): void {
    this.#end.abort();
  }

  async #keepVisiting(driver: string, entries: Map<string, Entry>): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#end;
    while (entries.size > 0 && !signal.aborted) {
      for (const [key, entry] of entries)
        if (entry.dueMs <= clock.monotonicMs()) await this.#visit(key, entry, entries);
      // one that comes meanwhile is due no sooner than those that are here
      const nextMs = Math.min(...[...entries.values()].map(({ dueMs }) => dueMs));
      if (entries.size > 0) await clock.sleep(Math.max(0, nextMs - clock.monotonicMs()), signal);
    }
    this.#drivers.delete(driver);
  }

  async #visit(key: string, entry: Entry, entries: Map<string, Entry>): Promise<void> {
    const { signal } = this.#end;
    const { clock } = this.#options;
    let waitMs = this.#lookMs;
    try {
      const isWanted = await entry.volume.visit(signal);
      if (!isWanted && entries.get(key) === entry) entries.delete(key);
      entry.problem = undefined;
    } catch (error) {
      waitMs = Math.min(maxFailedMs, this.#lookMs);
      if (!signal.aborted && entries.get(key) === entry) this.#tell(entry, describeError(error));
    }
    entry.dueMs = clock.monotonicMs() + waitMs;
  }

  /** Each new reason once. */
  #tell(entry: Entry, problem: string): void {
    if (entry.problem === problem) return;
    entry.problem = problem;
    const { report, log } = this.#options;
    const { pod, uid, inPod } = entry.volume;
    const { reason, step } = this.#failure;
    const message = `${step} failed for volume ${JSON.stringify(inPod)} : ${problem}`;
    report(pod, { type: 'Warning', reason, message });
    log.warn(`pod ${uid}: ${message}; it stays as it is, trying on`);
  }
}
