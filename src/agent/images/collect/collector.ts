import type { Clock, Logger, Service } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { EventRecorder } from '../../node/events/index.ts';
import { nodeSubject } from '../../node/events/index.ts';
import type { Connection } from '../../runtime/index.ts';
import type { ImageAccess } from '../access/image-access.ts';
import { ImageCalls } from '../image-calls.ts';
import type { MeasureDisk } from './disk.ts';
import { bytesToFree, createMeasureDisk } from './disk.ts';
import type { KnownImage } from './history.ts';
import { ImageHistory, isUsed, unusedSince } from './history.ts';
import type { CollectionSettings } from './types.ts';

export interface ImageCollectorOptions {
  /** To the image service. The caller closes it. */
  readonly connection: Connection;
  readonly timeoutMs: number;
  readonly settings: CollectionSettings;
  /**
   * Ids or names of the images of all containers of the node, of ended ones too, and of those that pods are about to start
   * with. Undefined while that is not known: nothing is removed then.
   */
  usedImages(): ReadonlySet<string> | undefined;
  /** Forgets what was remembered of images that are gone. */
  readonly access?: ImageAccess | undefined;
  readonly nodeName: string;
  readonly events: EventRecorder;
  readonly dependsOn?: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
  /** Default: by statfs. */
  readonly measureDisk?: MeasureDisk;
}

const intervalMs = 300_000;
/** While it is not known what is in use. */
const retryMs = 10_000;

/** The service `image-collection`: removes images that nothing uses, when the disk fills or they grow old. */
export class ImageCollector implements Service {
  readonly name = 'image-collection';
  readonly onFailure = 'restart';
  readonly dependsOn: readonly string[];
  readonly #options: ImageCollectorOptions;
  readonly #calls: ImageCalls;
  readonly #measureDisk: MeasureDisk;
  readonly #history = new ImageHistory();
  readonly #startMs: number;
  #failures = 0;

  constructor(options: ImageCollectorOptions) {
    this.#options = options;
    this.dependsOn = options.dependsOn ?? [];
    this.#calls = new ImageCalls(options);
    this.#measureDisk = options.measureDisk ?? createMeasureDisk(options.clock);
    this.#startMs = options.clock.monotonicMs();
  }

  async run(signal: AbortSignal, ready: () => void): Promise<void> {
    ready();
    while (!signal.aborted) {
      const isDone = await this.#tryCollect(signal);
      await this.#options.clock.sleep(isDone ? intervalMs : retryMs, signal);
    }
  }

  /** Removes every image that nothing uses, whatever its age: for a node that is short of disk. Returns the bytes. */
  async removeUnused(signal: AbortSignal): Promise<number> {
    if (!(await this.#look(signal))) return 0;
    return await this.#remove(this.#unused(), 'the node is short of disk', signal, () => false);
  }

  /** False: it is not known what is in use. */
  async #tryCollect(signal: AbortSignal): Promise<boolean> {
    try {
      if (!(await this.#look(signal))) return false;
      await this.#removeOld(signal);
      await this.#makeRoom(signal);
      this.#failures = 0;
    } catch (error) {
      if (!signal.aborted) this.#failed(describeError(error));
    }
    return true;
  }

  async #look(signal: AbortSignal): Promise<boolean> {
    const { usedImages, clock, access } = this.#options;
    if (usedImages() === undefined) return false;
    const generation = access?.generation ?? 0;
    const images = await this.#calls.list(signal);
    await access?.keepOnly(images, generation);
    const used = usedImages();
    if (used !== undefined) this.#history.note(images, used, clock.monotonicMs());
    return used !== undefined;
  }

  async #removeOld(signal: AbortSignal): Promise<void> {
    const { settings, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    if (settings.maxAgeMs === 0 || nowMs - this.#startMs <= settings.maxAgeMs) return;
    const old = this.#unused().filter((known) => nowMs - unusedSince(known) > settings.maxAgeMs);
    await this.#remove(old, 'it was not used for longer than imageMaximumGCAge', signal, () => false);
  }

  async #makeRoom(signal: AbortSignal): Promise<void> {
    const { settings, clock, log } = this.#options;
    const folder = await this.#calls.folder(signal);
    if (folder === undefined) throw new Error('the image service does not say where its images lie');
    const disk = await this.#measureDisk(folder, signal);
    if (disk.capacityBytes === 0) {
      const message = 'invalid capacity 0 on image filesystem';
      this.#warn('InvalidDiskCapacity', message);
      throw new Error(message);
    }
    const wantedBytes = bytesToFree(disk, settings);
    if (wantedBytes === 0) return;
    log.info(`the disk of ${folder} fills: unused images of ${wantedBytes} bytes are to be removed`);
    const nowMs = clock.monotonicMs();
    const isOldEnough = ({ wasThere, sinceMs }: KnownImage) =>
      wasThere || nowMs - sinceMs >= settings.minAgeMs;
    const chosen = this.#unused().filter(isOldEnough);
    const freedBytes = await this.#remove(chosen, 'its disk fills', signal, (freed) => freed >= wantedBytes);
    if (freedBytes >= wantedBytes) return;
    const message = `Failed to garbage collect required amount of images. Attempted to free ${wantedBytes} bytes, but only found ${freedBytes} bytes eligible to free.`;
    this.#warn('FreeDiskSpaceFailed', message);
    throw new Error(message);
  }

  #unused(): KnownImage[] {
    const used = this.#options.usedImages();
    return used === undefined
      ? []
      : this.#history.images.filter(({ image }) => !image.isPinned && !isUsed(image, used));
  }

  /** Until `isEnough` of the bytes that they had. One that cannot be removed does not keep the others. */
  async #remove(
    images: readonly KnownImage[],
    why: string,
    signal: AbortSignal,
    isEnough: (freedBytes: number) => boolean,
  ): Promise<number> {
    const { usedImages, log } = this.#options;
    let freedBytes = 0;
    const failures: string[] = [];
    for (const { image } of images) {
      if (isEnough(freedBytes) || signal.aborted) break;
      const used = usedImages();
      // Meanwhile a pod may have come that wants it.
      if (used === undefined || isUsed(image, used)) continue;
      const { id, names, sizeBytes } = image;
      try {
        await this.#calls.remove(id, signal);
        freedBytes += sizeBytes;
        log.info({ image: id, names, sizeBytes }, `an image was removed: ${why}`);
      } catch (error) {
        failures.push(describeError(error));
      }
    }
    if (failures.length > 0)
      throw new Error(`${failures.length} images could not be removed: ${failures[0]}`);
    return freedBytes;
  }

  /** A first failure may come from a runtime that is starting; only the next one is an event, as in the reference. */
  #failed(message: string): void {
    this.#failures += 1;
    this.#options.log.warn(`unused images could not be removed: ${message}`);
    if (this.#failures > 1) this.#warn('ImageGCFailed', message);
  }

  #warn(reason: string, message: string): void {
    const { events, nodeName } = this.#options;
    events.record(nodeSubject(nodeName), { type: 'Warning', reason, message });
  }
}
