import type { Clock, Logger } from '../../base/index.ts';
import { describeError, Semaphore, SingleFlight } from '../../base/index.ts';
import type { FolderLimits, FolderSize } from './folder-size.ts';
import { defaultFolderLimits, measureFolder } from './folder-size.ts';

export interface FolderSizesOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** What is mounted in the folder, from the mount table alone. */
  mountsBelow(folder: string): readonly string[];
  readonly limits?: FolderLimits;
}

/** Each writes to the same disk and takes a thread of the pool. */
const concurrency = 2;
const minAgeMs = 10_000;
/** A folder that takes long to measure is measured less often: of its time at most a fiftieth goes into that. */
const agePerCost = 50;
const maxFolders = 4096;

interface Measured {
  readonly size: FolderSize | undefined;
  /** Monotonic: until when it is new enough. */
  readonly validUntilMs: number;
}

/**
 * Sizes of folders, remembered: one is measured only when it is asked for, at most each ten seconds, and more seldom the
 * longer it takes. What could not be measured at all has no size, and is tried again after that time.
 */
export class FolderSizes {
  readonly #options: FolderSizesOptions;
  readonly #known = new Map<string, Measured>();
  readonly #running = new SingleFlight<FolderSize | undefined>();
  readonly #slots = new Semaphore(() => concurrency);

  constructor(options: FolderSizesOptions) {
    this.#options = options;
  }

  /** Waits for the size unless one that is new enough is known. Undefined: there is no such folder, or it cannot be read. */
  async size(path: string): Promise<FolderSize | undefined> {
    const known = this.#known.get(path);
    if (known !== undefined && this.#options.clock.monotonicMs() < known.validUntilMs) return known.size;
    return await this.#running.run(path, () => this.#measure(path));
  }

  /** The last known size, however old, at once; where it is too old it is measured in the background. */
  recent(path: string): FolderSize | undefined {
    void this.size(path);
    return this.#known.get(path)?.size;
  }

  async #measure(path: string): Promise<FolderSize | undefined> {
    using _ = await this.#slots.acquire();
    const { clock, log, limits = defaultFolderLimits, mountsBelow } = this.#options;
    const startMs = clock.monotonicMs();
    let size: FolderSize | undefined;
    try {
      size = await measureFolder(path, new Set(mountsBelow(path)), clock, limits);
    } catch (error) {
      log.debug(`cannot measure the folder ${path}: ${describeError(error)}`);
    }
    const endMs = clock.monotonicMs();
    this.#remember(path, {
      size,
      validUntilMs: endMs + Math.max(minAgeMs, (endMs - startMs) * agePerCost),
    });
    return size;
  }

  #remember(path: string, measured: Measured): void {
    this.#known.delete(path);
    this.#known.set(path, measured);
    const [oldest] = this.#known.keys();
    if (this.#known.size > maxFolders && oldest !== undefined) this.#known.delete(oldest);
  }
}
