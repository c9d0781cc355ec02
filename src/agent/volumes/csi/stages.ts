import { dirname } from 'node:path';
import type { Clock, KeyedMutex, Logger } from '../../../base/index.ts';
import { describeError, makeFolders } from '../../../base/index.ts';
import type { VolumeLeft } from '../keep-releasing.ts';
import { KeepReleasing } from '../keep-releasing.ts';
import { isMountedAt } from '../mounter.ts';
import type { Place } from '../place.ts';
import type { NodeStorage } from '../storage.ts';
import { mountDeviceStep, VolumeError } from '../volume-error.ts';
import type { CsiPaths } from './paths.ts';
import { listPodVolumes, listStaged, stagePaths, uniqueName } from './paths.ts';
import { removeVolumeFiles } from './remove-files.ts';
import type { StageRequest, VolumeDriver } from './types.ts';
import { DriverError, findDriver } from './types.ts';
import type { VolumeData } from './volume-data.ts';
import { readVolumeData, writeVolumeData } from './volume-data.ts';

export interface StagesOptions {
  readonly place: Place;
  readonly storage: NodeStorage;
  /** By the unique name of a volume; held by the caller of `stage`. */
  readonly locks: KeyedMutex;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Volumes that are staged on the node, each once for all its pods. Who uses one is what the disk says, so it is known again after
 * each start of the agent; that it is staged is known only of those that this process has staged, as a reboot undoes it.
 */
export class Stages {
  readonly #options: StagesOptions;
  readonly #staged = new Set<string>();
  readonly #releases: KeepReleasing;

  constructor(options: StagesOptions) {
    const { clock, log, storage } = options;
    this.#options = options;
    this.#releases = new KeepReleasing({
      ...{ clock, log },
      onChange: (listener) => storage.drivers.onChange(listener),
    });
  }

  /** Returns where it is staged. */
  async stage(
    volume: VolumeData,
    driver: VolumeDriver,
    request: Omit<StageRequest, 'stagingPath'>,
    signal: AbortSignal,
  ): Promise<string> {
    const name = uniqueName(volume);
    const at = await stagePaths(this.#options.place, volume);
    if (this.#staged.has(name)) return at.target;
    const isNew = (await readVolumeData(at.data)) === undefined;
    await makeFolders(at.target);
    await makeFolders(dirname(at.data));
    await writeVolumeData(at.data, { ...volume, progress: 'done' });
    try {
      await driver.stage({ ...request, stagingPath: at.target }, signal);
    } catch (error) {
      if (isNew && error instanceof DriverError && error.isFinal) await this.#forget(at);
      throw new VolumeError(describeError(error), { step: mountDeviceStep, cause: error });
    }
    this.#staged.add(name);
    return at.target;
  }

  /** Gives a volume back to its driver once no pod has it any more, trying until that is done. */
  async release(volume: VolumeData): Promise<void> {
    const { target: path } = await stagePaths(this.#options.place, volume);
    const release = (signal: AbortSignal) => this.#releaseUnused(volume, signal);
    this.#releases.begin({ name: uniqueName(volume), path, release });
  }

  /** Releases all that no pod has. To be called once it is known which pods there are. */
  async sweep(): Promise<void> {
    for (const volume of await listStaged(this.#options.place)) await this.release(volume);
  }

  /** What could not be released yet, by path. */
  left(): VolumeLeft[] {
    return this.#releases.left();
  }

  close(): void {
    this.#releases.close();
  }

  async #releaseUnused(volume: VolumeData, signal: AbortSignal): Promise<void> {
    const { place, storage, locks } = this.#options;
    using _lock = await locks.acquire(uniqueName(volume), signal);
    const isUsed = ({ data: { driver, handle } }: { readonly data: VolumeData }) =>
      driver === volume.driver && handle === volume.handle;
    if ((await listPodVolumes(place)).some(isUsed)) return;
    const at = await stagePaths(place, volume);
    if ((await readVolumeData(at.data)) !== undefined) {
      const driver = findDriver(
        storage.drivers,
        volume.driver,
        'attacher.UnmountDevice failed to create newCsiDriverClient',
      );
      if ((await driver.abilities(signal)).has('stage'))
        await driver.unstage(volume.handle, at.target, signal);
      await this.#forget(at);
    }
    this.#staged.delete(uniqueName(volume));
    storage.inUse.withdraw(uniqueName(volume));
  }

  async #forget(at: CsiPaths): Promise<void> {
    if (isMountedAt(at.target)) throw new Error(`${at.target} is still mounted`);
    await removeVolumeFiles(at);
  }
}
