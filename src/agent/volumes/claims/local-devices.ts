import { readdir, rmdir, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../../base/index.ts';
import {
  describeError,
  errorCode,
  KeyedMutex,
  makeFolders,
  readRegularFile,
  Semaphore,
  writeFileAtomic,
} from '../../../base/index.ts';
import type { VolumeLeft } from '../keep-releasing.ts';
import { KeepReleasing } from '../keep-releasing.ts';
import { isMountedAt } from '../mounter.ts';
import type { Place } from '../place.ts';
import { volumesFolder } from '../place.ts';
import { mountDeviceStep, VolumeError } from '../volume-error.ts';
import type { FileSystemTools, FormatMark } from './file-system.ts';
import { mountDevice } from './file-system.ts';
import type { ClaimedVolume } from './resolve.ts';

export interface LocalDevicesOptions extends FileSystemTools {
  readonly place: Place;
  readonly clock: Clock;
  /** Below `volumes` of a pod: where it has such a volume. */
  readonly plugin: string;
}

const shared = ['kubernetes.io', 'local-volume'] as const;
/** As the reference lays it out: the file systems of devices, by the names of their volumes. */
const mountsFolder = 'mounts';
/** By the same names: on which device a file system is being made. */
const formatsFolder = 'formats';
/** Checks of large file systems take long, and all programs together have a limit. */
const maxAtOnce = 4;
const maxPods = 100_000;
const limitBytes = 16 * 1024;

/**
 * The file systems on devices of this node, each mounted once for all pods that have it. Who uses one is what the disk says: it
 * goes when no pod has a folder for it any more.
 */
export class LocalDevices {
  readonly #options: LocalDevicesOptions;
  readonly #locks = new KeyedMutex();
  readonly #slots = new Semaphore(() => maxAtOnce);
  readonly #releases: KeepReleasing;

  constructor(options: LocalDevicesOptions) {
    this.#options = options;
    this.#releases = new KeepReleasing(options);
  }

  /** Mounts it unless that is done, and calls `use` with its folder before anybody can unmount it. */
  async withMounted(
    volume: ClaimedVolume,
    isReadOnly: boolean,
    signal: AbortSignal,
    use: (path: string) => Promise<void>,
  ): Promise<void> {
    using _lock = await this.#locks.acquire(volume.name, signal);
    const path = await this.#pathOf(volume.name);
    if (!isMountedAt(path)) await this.#slots.run(() => this.#mount(volume, path, isReadOnly));
    await use(path);
  }

  /** Unmounts what no pod has, trying until that is done. */
  async releaseUnused(): Promise<void> {
    for (const name of await namesIn(dirname(await this.#pathOf('any')))) {
      const path = await this.#pathOf(name);
      this.#releases.begin({ name, path, release: (signal) => this.#unmountUnused(name, path, signal) });
    }
  }

  /** What could not be unmounted yet. */
  left(): VolumeLeft[] {
    return this.#releases.left();
  }

  close(): void {
    this.#releases.close();
  }

  #pathOf(name: string): Promise<string> {
    return this.#options.place.sharedPath(...shared, mountsFolder, name);
  }

  async #mount({ name, spec }: ClaimedVolume, path: string, isReadOnly: boolean): Promise<void> {
    const { path: device = '', fsType = '' } = spec.local ?? {};
    const mark = await this.#markOf(name, device);
    await makeFolders(path);
    try {
      const options = ['defaults', ...(spec.mountOptions ?? [])];
      await mountDevice({ device, path, fsType, options, isReadOnly }, mark, this.#options);
    } catch (error) {
      await rmdir(path).catch(() => undefined);
      const message = `local: failed to mount device ${device} at ${path} (fstype: ${fsType}), error ${describeError(error)}`;
      throw new VolumeError(message, { step: mountDeviceStep, cause: error });
    }
    await mark.clear();
  }

  async #unmountUnused(name: string, path: string, signal: AbortSignal): Promise<void> {
    using _lock = await this.#locks.acquire(name, signal);
    if (await this.#isUsed(name)) return;
    await this.#options.mounter.unmountAllIn(path);
    await rmdir(path).catch(ignoreMissing);
  }

  async #isUsed(name: string): Promise<boolean> {
    const { place, plugin } = this.#options;
    for (const uid of await place.listPods(maxPods))
      if ((await namesIn(await place.pathOf(uid, volumesFolder, plugin))).includes(name)) return true;
    return false;
  }

  /** Stands on the disk from before a file system is made until it is mounted, and counts for that device alone. */
  async #markOf(name: string, device: string): Promise<FormatMark & { clear(): Promise<void> }> {
    const path = await this.#options.place.sharedPath(...shared, formatsFolder, name);
    return {
      isSet: async () => (await readText(path)) === device,
      async set() {
        await makeFolders(dirname(path));
        await writeFileAtomic(path, device);
      },
      clear: () => unlink(path).catch(ignoreMissing),
    };
  }
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return (await readRegularFile(path, { limitBytes, noFollow: true })).toString();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** None where there is no such folder. */
async function namesIn(path: string): Promise<string[]> {
  return await readdir(path).catch((error: unknown) => {
    ignoreMissing(error);
    return [];
  });
}

function ignoreMissing(error: unknown): void {
  if (errorCode(error) !== 'ENOENT') throw error;
}
