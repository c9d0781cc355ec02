import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../../api/index.ts';
import type { Backoff, Clock, KeyedMutex, Logger, Waker } from '../../base/index.ts';
import { createBackoff, createWaker, describeError, Semaphore } from '../../base/index.ts';
import type { Happening } from '../node/events/index.ts';
import type { ObjectName } from '../objects/index.ts';
import type { PodVolume, VolumeContent } from './kinds/types.ts';
import { FinalVolumeError, keyOf, VolumePendingError } from './kinds/types.ts';
import type { CurrentContent } from './types.ts';

export interface VolumeContentsOptions {
  /** Makes the files of the volume again. */
  fill(volume: PodVolume, signal: AbortSignal): Promise<VolumeContent | undefined>;
  /** By uid; held while the volumes of a pod are worked on. */
  readonly locks: KeyedMutex;
  report(pod: Pod, happening: Happening): void;
  readonly clock: Clock;
  readonly log: Logger;
}

const retry = { initialMs: 500, maxMs: 122_000, jitter: 0.1 };
/** How many pods are worked on at a time: one object may be in all of them. */
const maxAtOnce = 4;
/** Of one volume there is at most one Event in that time. */
const eventMs = 60_000;
/** The wall clock may be set while a renewal is waited for. */
const maxSleepMs = 10_000;

interface Filled {
  readonly volume: PodVolume;
  readonly content: VolumeContent;
  readonly problem?: string | undefined;
  readonly reportedMs?: number | undefined;
}

interface PodContents {
  pod: Pod;
  /** By name. */
  readonly volumes: Map<string, Filled>;
  readonly stop: AbortController;
  readonly waker: Waker;
  readonly backoff: Backoff;
  /** The names of the volumes that are to be filled again. */
  readonly stale: Set<string>;
  isWorkedOn: boolean;
}

/** Keeps the files of volumes as new as what they are made of. Where that fails the files stay, and it is tried again. */
export class VolumeContents {
  readonly #options: VolumeContentsOptions;
  /** By uid. */
  readonly #pods = new Map<string, PodContents>();
  readonly #slots = new Semaphore(() => maxAtOnce);
  readonly #closed = new AbortController();
  readonly #renewal: Waker;
  #isRenewing = false;

  constructor(options: VolumeContentsOptions) {
    this.#options = options;
    this.#renewal = createWaker(options.clock);
  }

  /** From now on the files of that volume, which were just made, are kept up to date. */
  add(volume: PodVolume, content: VolumeContent): void {
    const { uid, pod, name } = volume;
    const known = this.#pods.get(uid) ?? this.#begin(pod);
    this.#pods.set(uid, known);
    known.volumes.set(name, { ...known.volumes.get(name), volume, content, problem: undefined });
    this.#planRenewal(content);
  }

  /** Takes a newer object of the pod, which may be part of its files. */
  update(pod: Pod): void {
    const uid = pod.metadata?.uid ?? '';
    const known = this.#pods.get(uid);
    if (known === undefined || known.pod === pod) return;
    const before = known.pod;
    known.pod = pod;
    const partsOf = ({ metadata, spec }: Pod) => [metadata?.labels, metadata?.annotations, spec];
    if (!isDeepStrictEqual(partsOf(before), partsOf(pod))) this.refresh(uid);
  }

  /** What files of the pod are made of may have changed: that object, or without one anything. */
  refresh(uid: string, object?: ObjectName): void {
    const known = this.#pods.get(uid);
    if (known === undefined) return;
    const key = object && keyOf(object);
    for (const [name, { content }] of known.volumes)
      if (key === undefined || content.objects?.has(key) === true) known.stale.add(name);
    if (known.stale.size > 0) this.#wake(uid, known);
  }

  #wake(uid: string, known: PodContents): void {
    known.waker.wake();
    if (!known.isWorkedOn) void this.#work(uid, known);
  }

  forget(uid: string): void {
    this.#pods.get(uid)?.stop.abort();
    this.#pods.delete(uid);
  }

  /** By the names of the volumes. */
  list(uid: string): CurrentContent[] {
    const volumes = [...(this.#pods.get(uid)?.volumes.values() ?? [])];
    return volumes
      .map(({ volume, content: { shows, sinceMs }, problem }) => ({
        ...{ volume: volume.name, shows, sinceMs },
        ...(problem === undefined ? {} : { problem }),
      }))
      .sort((a, b) => (a.volume < b.volume ? -1 : 1));
  }

  close(): void {
    this.#closed.abort();
    for (const uid of [...this.#pods.keys()]) this.forget(uid);
  }

  #begin(pod: Pod): PodContents {
    return {
      ...{ pod, volumes: new Map(), stale: new Set(), isWorkedOn: false },
      stop: new AbortController(),
      waker: createWaker(this.#options.clock),
      backoff: createBackoff(retry),
    };
  }

  async #work(uid: string, known: PodContents): Promise<void> {
    const { locks } = this.#options;
    const { signal } = known.stop;
    known.isWorkedOn = true;
    while (known.stale.size > 0 && !signal.aborted) {
      // the slot last: a pod may be held for long by a volume that hangs
      const failed = await locks.run(uid, () => this.#slots.run(() => this.#fillStale(known, signal)));
      if (failed.length === 0) known.backoff.reset();
      else await known.waker.sleep(known.backoff.next(), signal);
      for (const name of failed) known.stale.add(name);
    }
    known.isWorkedOn = false;
  }

  /** Returns the names of the volumes that are to be tried again. */
  async #fillStale(known: PodContents, signal: AbortSignal): Promise<string[]> {
    const names = [...known.stale];
    known.stale.clear();
    const failed: string[] = [];
    for (const name of names) {
      const filled = known.volumes.get(name);
      if (filled === undefined || signal.aborted) continue;
      const volume = { ...filled.volume, pod: known.pod };
      try {
        const content = await this.#options.fill(volume, signal);
        if (content !== undefined && !signal.aborted) this.#take(known, volume, content);
      } catch (error) {
        if (signal.aborted) return [];
        this.#note(known, volume, error);
        if (!(error instanceof FinalVolumeError)) failed.push(name);
      }
    }
    return failed;
  }

  #take(known: PodContents, volume: PodVolume, content: VolumeContent): void {
    const before = known.volumes.get(volume.name);
    const nowMs = this.#options.clock.now();
    const isNews = before !== undefined && before.content.shows !== content.shows;
    const isReported = isNews && nowMs - (before.reportedMs ?? Number.NEGATIVE_INFINITY) >= eventMs;
    known.volumes.set(volume.name, { volume, content, reportedMs: isReported ? nowMs : before?.reportedMs });
    this.#planRenewal(content);
    if (!isReported) return;
    const message = `Volume ${JSON.stringify(volume.name)} shows ${content.shows}`;
    this.#options.report(volume.pod, { type: 'Normal', reason: 'VolumeUpdated', message });
  }

  /** Each new reason is reported once; that an answer is waited for is none. */
  #note(known: PodContents, volume: PodVolume, error: unknown): void {
    const before = known.volumes.get(volume.name);
    const problem = describeError(error);
    if (before === undefined || before.problem === problem) return;
    known.volumes.set(volume.name, { ...before, problem });
    if (error instanceof VolumePendingError) return;
    const { report, log } = this.#options;
    const message = `MountVolume.SetUp failed for volume ${JSON.stringify(volume.name)} : ${problem}`;
    report(volume.pod, { type: 'Warning', reason: 'FailedMount', message });
    log.warn(`pod ${volume.uid}: ${message}; its files stay as they are, trying on`);
  }

  #planRenewal({ renewMs }: VolumeContent): void {
    if (renewMs === undefined) return;
    this.#renewal.wake();
    if (!this.#isRenewing) void this.#keepRenewing();
  }

  async #keepRenewing(): Promise<void> {
    this.#isRenewing = true;
    const { signal } = this.#closed;
    for (let dueMs = this.#renewDue(); dueMs !== undefined && !signal.aborted; dueMs = this.#renewDue()) {
      const waitMs = dueMs - this.#options.clock.now();
      await this.#renewal.sleep(Math.min(waitMs, maxSleepMs), signal);
    }
    this.#isRenewing = false;
  }

  /** Begins with what is due. Returns when the next is; undefined: nothing is to be renewed. */
  #renewDue(): number | undefined {
    const nowMs = this.#options.clock.now();
    let next: number | undefined;
    for (const [uid, known] of this.#pods) {
      const { volumes } = known;
      for (const [name, filled] of volumes) {
        const { renewMs } = filled.content;
        if (renewMs === undefined) continue;
        if (renewMs > nowMs) {
          next = Math.min(next ?? renewMs, renewMs);
          continue;
        }
        // once: the new content says when the next time is, and where there is none it is tried again
        volumes.set(name, { ...filled, content: { ...filled.content, renewMs: undefined } });
        known.stale.add(name);
        this.#wake(uid, known);
      }
    }
    return next;
  }
}
