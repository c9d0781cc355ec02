import type { Pod } from '../../api/index.ts';
import type { Clock, Logger } from '../../base/index.ts';
import { createBackoff, describeError, KeyedMutex, mapConcurrently } from '../../base/index.ts';
import { listMounts, usedVolumes } from './container-mounts.ts';
import { kindOf } from './kinds/table.ts';
import type { PodVolume } from './kinds/types.ts';
import { FinalVolumeError } from './kinds/types.ts';
import { Mounter } from './mounter.ts';
import { Place } from './place.ts';
import { releaseVolumes } from './release.ts';
import type { Variable } from './sub-path-expr.ts';
import type { Tools } from './tools.ts';
import { systemTools } from './tools.ts';
import type { VolumeMount, Volumes, VolumesState } from './types.ts';

export interface PodVolumesOptions {
  /** The root folder of the agent; absolute. */
  readonly rootDir: string;
  /** Allocatable memory of the node; undefined while it is not known. */
  memoryBytes(): number | undefined;
  /** Whether the handler of the runtime that the pod runs with can make mounts read-only with all below them. */
  supportsRecursiveReadOnly(pod: Pod): boolean;
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
  readonly names: ReadonlySet<string>;
  /** Ends the tries to set them up. */
  readonly stop: AbortController;
}

/** The volumes of the pods of this node. What is done for one pod is done one thing at a time; pods do not wait for each other. */
export class PodVolumes implements Volumes {
  readonly #options: PodVolumesOptions;
  readonly #place: Place;
  readonly #tools: Tools;
  readonly #mounter: Mounter;
  /** By uid. */
  readonly #entries = new Map<string, Entry>();
  readonly #locks = new KeyedMutex();
  readonly #listeners = new Set<(podUid: string) => void>();

  constructor(options: PodVolumesOptions) {
    const { rootDir, log, clock, tools = systemTools(clock) } = options;
    this.#options = options;
    this.#place = new Place(rootDir);
    this.#tools = tools;
    this.#mounter = new Mounter({ tools, log });
  }

  want(pod: Pod): VolumesState {
    const uid = pod.metadata?.uid ?? '';
    const volumes = usedVolumes(pod);
    if (volumes.length === 0) return { state: 'ready' };
    const known = this.#entries.get(uid);
    if (known !== undefined && volumes.every(({ name }) => known.names.has(name))) return known.state;
    return this.#begin(uid, volumes).state;
  }

  /** `environment` is that of the container, for `subPathExpr`. */
  async mountsOf(
    pod: Pod,
    container: string,
    environment: readonly Variable[] = [],
  ): Promise<readonly VolumeMount[]> {
    const uid = pod.metadata?.uid ?? '';
    if (this.want(pod).state !== 'ready') throw new Error('the volumes of the pod are not set up yet');
    const entry = this.#entries.get(uid);
    const supportsRecursiveReadOnly = this.#options.supportsRecursiveReadOnly(pod);
    const tools = this.#volumeTools();
    return await this.#locks.run(uid, async () => {
      if (this.#entries.get(uid) !== entry) throw new Error('the volumes of the pod are being removed');
      return await listMounts(pod, container, { tools, environment, supportsRecursiveReadOnly });
    });
  }

  async release({ uid }: { readonly uid: string }): Promise<void> {
    this.#entries.get(uid)?.stop.abort();
    this.#entries.delete(uid);
    await this.#locks.run(uid, () => releaseVolumes(uid, this.#place, this.#mounter));
  }

  /** The uids of the pods that have folders here, whether they are wanted or not: to release those that are gone. */
  async listPods(): Promise<readonly string[]> {
    return await this.#place.listPods(maxPods);
  }

  onChange(listener: (podUid: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Ends all tries; what is set up stays. */
  close(): void {
    for (const { stop } of this.#entries.values()) stop.abort();
  }

  /** Also for a pod whose new ephemeral container mounts what none did before: what is there already is only looked at. */
  #begin(uid: string, volumes: readonly PodVolume[]): Entry {
    this.#entries.get(uid)?.stop.abort();
    const names = volumes.map(({ name }) => name);
    const message = `volumes are being set up: ${names.join(', ')}`;
    const entry: Entry = {
      state: { state: 'waiting', reason: '', message },
      names: new Set(names),
      stop: new AbortController(),
    };
    this.#entries.set(uid, entry);
    void this.#keepTrying(uid, entry, volumes);
    return entry;
  }

  async #keepTrying(uid: string, entry: Entry, volumes: readonly PodVolume[]): Promise<void> {
    const { clock } = this.#options;
    const { signal } = entry.stop;
    const backoff = createBackoff(retry);
    while (!signal.aborted) {
      const failures = await this.#locks.run(uid, () => this.#setUp(volumes, signal));
      if (signal.aborted) return;
      if (failures.length === 0) return this.#publish(uid, entry, { state: 'ready' });
      const message = failures.map(({ text }) => text).join('; ');
      const waitMs = failures.every(({ isFinal }) => isFinal) ? undefined : backoff.next();
      const untilMs = waitMs === undefined ? undefined : clock.now() + waitMs;
      this.#publish(uid, entry, { state: 'waiting', reason: 'FailedMount', message, untilMs });
      if (waitMs === undefined) return;
      await clock.sleep(waitMs, signal);
    }
  }

  async #setUp(volumes: readonly PodVolume[], signal: AbortSignal): Promise<Failure[]> {
    const tools = this.#volumeTools();
    const failures = await mapConcurrently(volumes, maxAtOnce, async (volume) => {
      if (signal.aborted) return [];
      try {
        await kindOf(volume.source).setUp(volume, tools);
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

  #volumeTools() {
    const { log, clock, memoryBytes } = this.#options;
    return { place: this.#place, mounter: this.#mounter, tools: this.#tools, memoryBytes, log, clock };
  }
}

interface Failure {
  readonly text: string;
  readonly isFinal: boolean;
}

function toFailure(name: string, error: unknown): Failure {
  const text = `MountVolume.SetUp failed for volume ${JSON.stringify(name)} : ${describeError(error)}`;
  return { text, isFinal: error instanceof FinalVolumeError };
}
