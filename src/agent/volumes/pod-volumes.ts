import type { PersistentVolumeClaim, Pod } from '../../api/index.ts';
import type { Clock, Logger, Waker } from '../../base/index.ts';
import { createBackoff, createWaker, describeError, KeyedMutex, mapConcurrently } from '../../base/index.ts';
import type { DownwardFacts } from '../downward/index.ts';
import type { Happening } from '../node/events/index.ts';
import type { ObjectName, PodObjects } from '../objects/index.ts';
import type { PodTokens } from '../tokens/index.ts';
import type { UsedClaim } from './claims/claim-usage.ts';
import { listAccess, listMounts, usedVolumes } from './container-mounts.ts';
import { VolumeContents } from './contents.ts';
import type { Failure } from './failures.ts';
import { chooseWait, describeFailures, toFailure } from './failures.ts';
import type { VolumeLeft } from './keep-releasing.ts';
import { kindOf } from './kinds/table.ts';
import type { PodVolume, VolumeContent, VolumeTools } from './kinds/types.ts';
import { Mounter } from './mounter.ts';
import type { PersistentVolumes } from './persistent.ts';
import { createPersistentVolumes } from './persistent.ts';
import { Place } from './place.ts';
import { readVolumeFile } from './read-file.ts';
import { releaseVolumes } from './release.ts';
import type { NodeStorage } from './storage.ts';
import type { Variable } from './sub-path-expr.ts';
import type { Tools } from './tools.ts';
import { systemTools } from './tools.ts';
import type { CurrentContent, VolumeAccess, VolumeMount, Volumes, VolumesState } from './types.ts';

export interface PodVolumesOptions {
  /** The root folder of the agent; absolute. */
  readonly rootDir: string;
  /** Allocatable memory of the node; undefined while it is not known. */
  memoryBytes(): number | undefined;
  readonly objects: PodObjects;
  readonly tokens: PodTokens;
  readonly storage: NodeStorage;
  downward(pod: Pod): DownwardFacts;
  /** Reports an Event about a pod. */
  report(pod: Pod, happening: Happening): void;
  /** The same, about a claim. */
  reportClaim(claim: PersistentVolumeClaim, happening: Happening): void;
  /** Why the runtime cannot mount images, or parts of them; undefined: it can. */
  imageMountFault(isInParts: boolean): string | undefined;
  /** Whether the handler of the runtime that the pod runs with can make mounts read-only with all below them. */
  supportsRecursiveReadOnly(pod: Pod): boolean;
  /** Between two looks at a volume that is in use, whether it is to be published again; default one minute. */
  readonly lookMs?: number;
  readonly log: Logger;
  readonly clock: Clock;
  /** Default: the programs of this machine. */
  readonly tools?: Tools;
}

/** As in the reference. */
const retry = { initialMs: 500, maxMs: 122_000 };
/** How many volumes of one pod are worked on at a time. */
const maxAtOnce = 4;

/** Far more than a node may have. */
const maxPods = 100_000;

interface Entry {
  state: VolumesState;
  /** As last given. */
  pod: Pod;
  readonly names: ReadonlySet<string>;
  /** Ends the tries to set them up. */
  readonly stop: AbortController;
  readonly waker: Waker;
  /** How often what they are made of has changed. */
  changes: number;
}

/** The volumes of the pods of this node. What is done for one pod is done one thing at a time; pods do not wait for each other. */
export class PodVolumes implements Volumes {
  readonly #options: PodVolumesOptions;
  readonly #place: Place;
  readonly #tools: Tools;
  readonly #mounter: Mounter;
  readonly #persistent: PersistentVolumes;
  /** By uid. */
  readonly #entries = new Map<string, Entry>();
  readonly #locks = new KeyedMutex();
  readonly #end = new AbortController();
  readonly #listeners = new Set<(podUid: string) => void>();
  readonly #contents: VolumeContents;
  readonly #following: readonly Disposable[];

  constructor(options: PodVolumesOptions) {
    const { rootDir, log, clock, objects, storage, tools = systemTools(clock) } = options;
    this.#options = options;
    this.#place = new Place(rootDir);
    this.#tools = tools;
    this.#mounter = new Mounter({ tools, log });
    const own = { place: this.#place, mounter: this.#mounter, tools };
    this.#persistent = createPersistentVolumes({ ...options, ...own });
    this.#contents = new VolumeContents({
      fill: async (volume, signal) => await kindOf(volume.source).fill?.(volume, this.#volumeTools(), signal),
      report: (pod, happening) => options.report(pod, happening),
      ...{ locks: this.#locks, clock, log },
    });
    this.#following = [
      objects.onChange((name, podUids) => this.#refresh(name, podUids)),
      storage.drivers.onChange(() => this.#wakeAll()),
    ];
  }

  want(pod: Pod): VolumesState {
    const uid = pod.metadata?.uid ?? '';
    const volumes = usedVolumes(pod);
    if (volumes.length === 0) return { state: 'ready' };
    const known = this.#entries.get(uid);
    if (known === undefined || !volumes.every(({ name }) => known.names.has(name)))
      return this.#begin(pod, volumes).state;
    known.pod = pod;
    this.#contents.update(pod);
    return known.state;
  }

  /** `environment` is that of the container, for `subPathExpr`. */
  async mountsOf(
    pod: Pod,
    container: string,
    environment: readonly Variable[] = [],
    images: ReadonlyMap<string, string> = new Map(),
  ): Promise<readonly VolumeMount[]> {
    const uid = pod.metadata?.uid ?? '';
    if (this.want(pod).state !== 'ready') throw new Error('the volumes of the pod are not set up yet');
    const entry = this.#entries.get(uid);
    const supportsRecursiveReadOnly = this.#options.supportsRecursiveReadOnly(pod);
    const tools = this.#volumeTools();
    return await this.#locks.run(uid, async () => {
      if (this.#entries.get(uid) !== entry) throw new Error('the volumes of the pod are being removed');
      return await listMounts(pod, container, { tools, environment, images, supportsRecursiveReadOnly });
    });
  }

  async accessOf(pod: Pod, container: string): Promise<VolumeAccess> {
    if (this.want(pod).state !== 'ready') throw new Error('the volumes of the pod are not set up yet');
    return await listAccess(pod, container, this.#volumeTools());
  }

  async readFile(pod: Pod, volume: string, path: string): Promise<string> {
    const uid = pod.metadata?.uid ?? '';
    if (this.want(pod).state !== 'ready') throw new Error('the volumes of the pod are not set up yet');
    const found = usedVolumes(pod).find(({ name }) => name === volume);
    if (found?.source.emptyDir === undefined) throw new Error('it is no emptyDir that a container mounts');
    return await this.#locks.run(uid, async () => {
      const base = await kindOf(found.source).pathOf(found, this.#volumeTools());
      return await readVolumeFile(base, path);
    });
  }

  async release({ uid }: { readonly uid: string }): Promise<void> {
    this.#entries.get(uid)?.stop.abort();
    this.#entries.delete(uid);
    this.#contents.forget(uid);
    this.#persistent.release(uid);
    this.#options.tokens.release(uid);
    await this.#locks.run(uid, () => releaseVolumes(uid, this.#releaseTools()));
    await this.#persistent.releaseUnused();
  }

  /** The uids of the pods that have folders here, whether they are wanted or not: to release those that are gone. */
  async listPods(): Promise<readonly string[]> {
    return await this.#place.listPods(maxPods);
  }

  /** Has drivers take their volumes from a pod, also from one that nobody wants. Rejects with what is in the way. */
  async unpublish(uid: string): Promise<void> {
    const { csi } = this.#persistent;
    const problems = await this.#locks.run(uid, () => csi.unpublishAll(uid, this.#end.signal));
    if (problems.length > 0) throw new Error(problems.join('; '));
  }

  /** Gives back to their drivers what no pod has any more. To be called once it is known which pods there are. */
  async releaseShared(): Promise<void> {
    await this.#persistent.sweep();
  }

  /** What could not be given back yet. */
  left(): VolumeLeft[] {
    return this.#persistent.left();
  }

  /** How full the volumes of claims are that pods have, as was found last. */
  used(): UsedClaim[] {
    return this.#persistent.used();
  }

  onChange(listener: (podUid: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  contentsOf(podUid: string): readonly CurrentContent[] {
    return this.#contents.list(podUid);
  }

  /** Ends all tries, and does not follow what volumes are made of any more; what is set up stays. */
  close(): void {
    for (const each of this.#following) each[Symbol.dispose]();
    this.#contents.close();
    for (const { stop } of this.#entries.values()) stop.abort();
    this.#end.abort();
    this.#persistent.close();
  }

  #refresh(object: ObjectName, podUids: Iterable<string>): void {
    for (const uid of podUids) {
      const entry = this.#entries.get(uid);
      if (entry === undefined) continue;
      entry.changes += 1;
      entry.waker.wake();
      this.#contents.refresh(uid, object);
    }
  }

  /** A driver that was missing may have come. */
  #wakeAll(): void {
    for (const { waker } of this.#entries.values()) waker.wake();
  }

  /** Also for a pod whose new ephemeral container mounts what none did before: what is there already is only looked at. */
  #begin(pod: Pod, volumes: readonly PodVolume[]): Entry {
    const uid = pod.metadata?.uid ?? '';
    this.#entries.get(uid)?.stop.abort();
    const names = volumes.map(({ name }) => name);
    const message = `volumes are being set up: ${names.join(', ')}`;
    const entry: Entry = {
      ...{ pod, changes: 0 },
      state: { state: 'waiting', reason: '', message },
      names: new Set(names),
      stop: new AbortController(),
      waker: createWaker(this.#options.clock),
    };
    this.#entries.set(uid, entry);
    void this.#keepTrying(uid, entry);
    return entry;
  }

  async #keepTrying(uid: string, entry: Entry): Promise<void> {
    const { signal } = entry.stop;
    const backoff = createBackoff(retry);
    while (!signal.aborted) {
      const { changes } = entry;
      const failures = await this.#locks.run(uid, () => this.#setUp(usedVolumes(entry.pod), signal));
      if (signal.aborted) return;
      if (failures.length === 0) {
        // what has changed since it was read
        if (entry.changes !== changes) this.#contents.refresh(uid);
        this.#contents.update(entry.pod);
        return this.#publish(uid, entry, { state: 'ready' });
      }
      const waitMs = chooseWait(failures, backoff.next());
      this.#report(entry.pod, failures);
      this.#publish(uid, entry, this.#waitingFor(failures, waitMs));
      if (waitMs === undefined) return;
      await entry.waker.sleep(waitMs, signal);
    }
  }

  /** At each try, as the reference does: what fails again is counted up, and another failure is another Event. */
  #report(pod: Pod, failures: readonly Failure[]): void {
    for (const { is, text } of failures)
      if (is !== 'pending')
        this.#options.report(pod, { type: 'Warning', reason: 'FailedMount', message: text });
  }

  #waitingFor(failures: readonly Failure[], waitMs: number | undefined): VolumesState {
    const message = describeFailures(failures);
    if (failures.every(({ is }) => is === 'pending')) return { state: 'waiting', reason: '', message };
    const untilMs = waitMs === undefined ? undefined : this.#options.clock.now() + waitMs;
    return { state: 'waiting', reason: 'FailedMount', message, untilMs };
  }

  async #setUp(volumes: readonly PodVolume[], signal: AbortSignal): Promise<Failure[]> {
    const tools = this.#volumeTools();
    const failures = await mapConcurrently(volumes, maxAtOnce, async (volume) => {
      if (signal.aborted) return [];
      try {
        const content = await makeVolume(volume, tools, signal);
        if (content !== undefined && !signal.aborted) this.#contents.add(volume, content);
        return [];
      } catch (error) {
        return [toFailure(volume.name, error)];
      }
    });
    return failures.flat();
  }

  #publish(uid: string, entry: Entry, state: VolumesState): void {
    entry.state = state;
    for (const listener of [...this.#listeners]) {
      try {
        listener(uid);
      } catch (error) {
        this.#options.log.error(`that volumes have changed could not be worked on: ${describeError(error)}`);
      }
    }
  }

  #releaseTools() {
    const { csi } = this.#persistent;
    return { place: this.#place, mounter: this.#mounter, csi, signal: this.#end.signal };
  }

  #volumeTools() {
    const { log, clock, memoryBytes, objects, tokens, downward, report, imageMountFault } = this.#options;
    const own = { place: this.#place, mounter: this.#mounter, tools: this.#tools };
    const kept = { persistent: this.#persistent, objects, tokens };
    return { ...own, ...kept, memoryBytes, downward, report, imageMountFault, log, clock };
  }
}

async function makeVolume(
  volume: PodVolume,
  tools: VolumeTools,
  signal: AbortSignal,
): Promise<VolumeContent | undefined> {
  const kind = kindOf(volume.source);
  if (kind.fill !== undefined) return await kind.fill(volume, tools, signal);
  await kind.setUp(volume, tools, signal);
  return undefined;
}
