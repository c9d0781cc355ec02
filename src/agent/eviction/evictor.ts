import type { Pod } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { createWaker, describeError, Listeners, noReason } from '../../base/index.ts';
import type { Happening } from '../node/events/index.ts';
import type { Eviction, EvictionSignal, Measure, Memory, PressureKind, Pressures } from '../node/index.ts';
import { isCritical } from '../pods/admission/index.ts';
import type { PodEnd } from '../pods/worker/index.ts';
import type { FileSystems, Layout } from './file-systems.ts';
import { partsOn, sparesOn } from './file-systems.ts';
import { followMemoryEvents, isMemoryShort, quickLookMs } from './memory-watch.ts';
import type { EvictionMetrics } from './metrics.ts';
import type { MetThreshold, Observed, PressureState } from './pressure-watch.ts';
import { kindOf, PressureWatch } from './pressure-watch.ts';
import type { Shortage } from './rank.ts';
import { rankPods } from './rank.ts';
import type { RoomMakerOptions } from './room.ts';
import { RoomMaker } from './room.ts';
import { findExcess, hasStorageLimit } from './storage-limits.ts';
import type { ActivePod, ReadUse } from './types.ts';
import { describeEviction, evicted, resourceOf } from './words.ts';

export interface EvictorOptions extends RoomMakerOptions {
  readonly measure: Measure;
  /** The memory of the node alone: read often while it is short. */
  readMemory(): Memory | undefined;
  /** What all pods together may use and have left; undefined where that is not known. */
  allPodsMemory(): Memory | undefined;
  /** The file `memory.events.local` of the group of all pods; undefined where there is none. */
  memoryEvents(): string | undefined;
  eviction(): Eviction;
  /** How long from one look to the next at most. */
  roundMs(): number;
  readonly fileSystems: Pick<FileSystems, 'layout'>;
  /** Those that hold something of the node, but for those that the node ends already. */
  pods(): readonly ActivePod[];
  readonly readUse: ReadUse;
  /** Ends a pod; false where nothing of it is left to end. */
  endPod(uid: string, end: PodEnd): boolean;
  /** Whether it holds nothing of the node any more. */
  isReleased(uid: string): boolean;
  podEvent(pod: Pod, happening: Happening): void;
  nodeEvent(happening: Happening): void;
  readonly metrics: EvictionMetrics;
}

/** What the node is short of, since when, and what is done about it. */
export interface PressureReport {
  readonly state: PressureState | undefined;
  /** What was done last for it, and when by the wall clock. */
  readonly last?: { readonly kind: PressureKind; readonly atMs: number; readonly what: string };
}

/** Events of the kernel that come closer together are one. */
const minSpacingMs = 1000;
/** How long the next round waits for an evicted pod to be gone, as in the reference. */
const releaseMs = 30_000;
const releaseCheckMs = 250;
/** As in the reference; a hard threshold leaves no time. */
const hardGraceSeconds = 1;
/** How long pods are spared while what nobody uses is being removed. */
const roomMs = 30_000;
/** Between two Events for the same resource. */
const eventSpacingMs = 10_000;

const unknown: Pressures = { memory: undefined, disk: undefined, pid: undefined };

/**
 * Keeps the node from running out of memory, disk and process numbers: looks at it again and again, frees what nobody uses,
 * and ends one pod after the other until the thresholds hold again. What pods may use of local storage is checked beside it.
 */
export class Evictor {
  readonly #options: EvictorOptions;
  readonly #watch = new PressureWatch();
  readonly #room: RoomMaker;
  readonly #waker: ReturnType<typeof createWaker>;
  readonly #listeners: Listeners<[]>;
  #state: PressureState | undefined;
  #last: PressureReport['last'];
  #logged = '';
  /** Monotonic: when the Event of each resource was written last. */
  readonly #eventMs = new Map<Shortage['of'], number>();
  /** The next round comes when it ends. */
  #awaited: Promise<void> | undefined;

  constructor(options: EvictorOptions) {
    this.#options = options;
    this.#room = new RoomMaker(options);
    this.#waker = createWaker(options.clock);
    this.#listeners = new Listeners('pressures of the node that have changed', options.log);
  }

  /** As last measured; nothing is known before the first look. */
  pressures(): Pressures {
    return this.#state?.pressures ?? unknown;
  }

  report(): PressureReport {
    const last = this.#last;
    return { state: this.#state, ...(last === undefined ? {} : { last }) };
  }

  /** Calls `listener` when a pressure begins or ends. */
  onChange(listener: () => void): Disposable {
    return this.#listeners.add(listener);
  }

  /** Looks soon: the configuration has changed, or the kernel has reported something. */
  readonly wake = (): void => this.#waker.wake();

  /** Of a service: ready after the first look. */
  readonly run: Service['run'] = async (signal, ready) => {
    const { memoryEvents } = this.#options;
    using events = followMemoryEvents(this.wake);
    while (!signal.aborted) {
      const gone = await this.#round(signal, ready).catch((error: unknown) => this.#failed(error, signal));
      ready(); // also where nothing could be measured
      events.follow(memoryEvents());
      if (gone.length > 0) await this.#waitForRelease(gone, signal);
      else await this.#rest(signal);
    }
  };

  /** One look and what follows from it; returns the uids of the pods that were evicted. */
  async #round(signal: AbortSignal, ready: () => void): Promise<readonly string[]> {
    const { eviction, fileSystems } = this.#options;
    const observed = await this.#observe(signal);
    if (signal.aborted) return [];
    const [first] = this.#note(observed).due;
    ready(); // what follows may take long, and pods and the status need the pressures alone
    const layout = await fileSystems.layout(signal);
    if (first !== undefined && !signal.aborted) {
      this.#announce(first);
      if (this.#isMakingRoom(first, layout, signal)) return [];
      const uid = await this.#evictOne(first, layout, signal);
      if (uid !== undefined) return [uid];
    }
    if (signal.aborted || !eviction().limitsStorage) return [];
    return await this.#endThoseOverLimits(layout, signal);
  }

  async #observe(signal: AbortSignal): Promise<Observed> {
    const { measure, allPodsMemory } = this.#options;
    return { ...(await measure(signal)), allPodsMemory: allPodsMemory() };
  }

  #note(observed: Observed): PressureState {
    const { clock, eviction } = this.#options;
    const before = this.pressures();
    const state = this.#watch.look(observed, eviction(), clock.monotonicMs());
    this.#state = state;
    const { memory, disk, pid } = state.pressures;
    if (memory !== before.memory || disk !== before.disk || pid !== before.pid) this.#listeners.notify();
    return state;
  }

  #announce({ signal }: MetThreshold): void {
    const { clock, nodeEvent } = this.#options;
    const [resource, nowMs] = [resourceOf(signal), clock.monotonicMs()];
    if (nowMs - (this.#eventMs.get(resource) ?? -eventSpacingMs) < eventSpacingMs) return;
    this.#eventMs.set(resource, nowMs);
    const message = `Attempting to reclaim ${resource}`;
    nodeEvent({ type: 'Warning', reason: 'EvictionThresholdMet', message });
  }

  /** Whether to wait for what is freed that nobody uses: the next round sees whether that was enough. */
  #isMakingRoom({ signal: short }: MetThreshold, layout: Layout, signal: AbortSignal): boolean {
    const onBegin = (what: string) => this.#did(short, `removes ${what}: ${short} is below its threshold`);
    const spares = sparesOn(short, layout);
    const work = spares.length === 0 ? undefined : this.#room.begin(spares, onBegin, signal);
    if (work === undefined || this.#options.clock.monotonicMs() - work.startMs >= roomMs) return false;
    this.#awaited = work.done;
    return true;
  }

  /** The same threshold as it is now; undefined: nothing is to be done for it any more. */
  async #lookAgain(first: MetThreshold, signal: AbortSignal): Promise<MetThreshold | undefined> {
    const observed = await this.#observe(signal);
    if (signal.aborted) return undefined;
    return this.#note(observed).due.find(
      (each) => each.signal === first.signal && each.isHard === first.isHard,
    );
  }

  /** Returns its uid; undefined: there is none that may be, or it need not be any more. */
  async #evictOne(first: MetThreshold, layout: Layout, signal: AbortSignal): Promise<string | undefined> {
    const { readUse, metrics, clock } = this.#options;
    const candidates = this.#candidates(() => true);
    const shortage = shortageOf(first, layout);
    const kind = shortage.of === 'memory' ? 'memory' : shortage.of === 'pids' ? 'processes' : 'disk';
    const uses = await readUse(candidates, [kind], signal);
    if (signal.aborted || uses === undefined) return undefined;
    const measuredMs = clock.monotonicMs();
    const met = await this.#lookAgain(first, signal); // to find the figures of pods may have taken long
    if (met === undefined) return undefined;
    const ranked = rankPods(
      candidates.map((pod) => ({ pod, use: uses.get(uidOf(pod)) })),
      shortage,
    );
    metrics.decided(met.signal, (clock.monotonicMs() - measuredMs) / 1000);
    for (const each of ranked) {
      const { message, annotations } = describeEviction(each, met);
      const end = { message, graceSeconds: this.#graceOf(each.pod, met), disruption: message };
      if (!this.#evict(each.pod, end, annotations)) continue;
      this.#watch.evicted(clock.monotonicMs());
      this.#room.forget();
      metrics.evicted(met.signal);
      this.#did(met.signal, `evicted pod ${fullName(each.pod)}: ${message.trimEnd()}`);
      return uidOf(each.pod);
    }
    this.#did(met.signal, `${met.signal} is below its threshold, and no pod may be evicted for it`);
    return undefined;
  }

  async #endThoseOverLimits(layout: Layout, signal: AbortSignal): Promise<string[]> {
    const { readUse, metrics } = this.#options;
    const limited = this.#candidates(({ isEnding }) => !isEnding).filter(hasStorageLimit);
    if (limited.length === 0) return [];
    const uses = await readUse(limited, ['disk'], signal);
    if (signal.aborted) return [];
    return limited.flatMap((pod) => {
      const use = uses?.get(uidOf(pod));
      const excess = use && findExcess(pod, use, layout);
      if (excess === undefined) return [];
      const { message, limit } = excess;
      if (!this.#evict(pod, { message, graceSeconds: hardGraceSeconds }, undefined)) return [];
      metrics.evicted(limit);
      return [uidOf(pod)];
    });
  }

  /** Critical pods are never evicted. */
  #candidates(isMeant: (active: ActivePod) => boolean): Pod[] {
    const meant = this.#options.pods().filter(({ pod, origin }) => !isCritical(pod, origin));
    return meant.filter(isMeant).map(({ pod }) => pod);
  }

  #evict(pod: Pod, end: Omit<PodEnd, 'reason'>, annotations: Happening['annotations'] | undefined): boolean {
    const { endPod, podEvent, log } = this.#options;
    if (!endPod(uidOf(pod), { ...end, reason: evicted })) return false;
    const { message } = end;
    podEvent(pod, {
      ...{ type: 'Warning', reason: evicted, message },
      ...(annotations === undefined ? {} : { annotations }),
    });
    log.warn(`pod ${fullName(pod)} is evicted: ${message.trimEnd()}`);
    return true;
  }

  #graceOf({ spec }: Pod, { isHard }: MetThreshold): number {
    if (isHard) return hardGraceSeconds;
    const own = spec?.terminationGracePeriodSeconds ?? 30;
    const { maxPodGraceSeconds } = this.#options.eviction();
    return Math.max(hardGraceSeconds, maxPodGraceSeconds < 0 ? own : Math.min(own, maxPodGraceSeconds));
  }

  /** What an evicted pod frees counts only when it is gone; one that does not go holds nobody up for ever. */
  async #waitForRelease(uids: readonly string[], signal: AbortSignal): Promise<void> {
    const { clock, isReleased } = this.#options;
    const endMs = clock.monotonicMs() + releaseMs;
    while (!signal.aborted && clock.monotonicMs() < endMs && !uids.every(isReleased))
      await clock.sleep(releaseCheckMs, signal);
  }

  /** Until the next look is due; the memory is short before, or what was waited for has been freed. */
  async #rest(signal: AbortSignal): Promise<void> {
    const freed = this.#awaited;
    this.#awaited = undefined;
    const end = new AbortController();
    const resting = this.#restFully(AbortSignal.any([signal, end.signal]));
    await (freed === undefined ? resting : Promise.race([resting, freed]));
    end.abort(noReason);
    await resting;
  }

  async #restFully(signal: AbortSignal): Promise<void> {
    const { clock, readMemory, eviction, roundMs } = this.#options;
    const startMs = clock.monotonicMs();
    const endMs = startMs + roundMs();
    while (!signal.aborted && clock.monotonicMs() < endMs) {
      const leftMs = endMs - clock.monotonicMs();
      const memory = readMemory();
      if (this.#isNewlyShort(memory)) return;
      const beforeMs = clock.monotonicMs();
      const sleepMs = Math.min(leftMs, quickLookMs(memory, eviction()) ?? leftMs);
      await this.#waker.sleep(sleepMs, signal);
      if (clock.monotonicMs() - beforeMs >= sleepMs) continue;
      await clock.sleep(Math.max(0, startMs + minSpacingMs - clock.monotonicMs()), signal);
      return;
    }
  }

  /** While it stays short, one look each ten seconds has to do, as for everything else. */
  #isNewlyShort(memory: Memory | undefined): boolean {
    const { hard, soft } = this.#options.eviction();
    const isKnown = (ofHard: boolean) =>
      this.#state?.met.some(({ signal, isHard }) => signal === 'memory.available' && isHard === ofHard);
    return (
      (!isKnown(true) && isMemoryShort(memory, hard)) || (!isKnown(false) && isMemoryShort(memory, soft))
    );
  }

  #did(signal: EvictionSignal, what: string): void {
    this.#last = { kind: kindOf(signal), atMs: this.#options.clock.now(), what };
  }

  /** Logs each reason once. */
  #failed(error: unknown, signal: AbortSignal): readonly string[] {
    const why = describeError(error);
    if (!signal.aborted && why !== this.#logged)
      this.#options.log.warn(`cannot see whether the node is short of anything, trying on: ${why}`);
    this.#logged = why;
    return [];
  }
}

const fullName = ({ metadata }: Pod): string => `${metadata?.namespace}/${metadata?.name}`;
const uidOf = ({ metadata }: Pod): string => metadata?.uid ?? '';

function shortageOf({ signal }: MetThreshold, layout: Layout): Shortage {
  const of = resourceOf(signal);
  return of === 'memory' || of === 'pids' ? { of } : { of, parts: partsOn(signal, layout) };
}
