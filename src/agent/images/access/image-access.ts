import type { Clock, Logger } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import type { StateFile } from '../../../base/state-file/index.ts';
import { openStateFile } from '../../../base/state-file/index.ts';
import type { Credential } from '../credentials/types.ts';
import type { LocalImage } from '../image-calls.ts';
import type { ImageName } from '../image-name.ts';
import type { AccessSettings } from './policy.ts';
import { needsVerification } from './policy.ts';
import type { PullRecords } from './records.ts';
import { digestOf, noRecords, parseRecords, withPull } from './records.ts';

export interface ImageAccessOptions {
  readonly settings: AccessSettings;
  /** Of the state file, absolute. */
  readonly path: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Remembers with which credentials images came, in a file that outlives the agent: a pod without them may not use what
 * another one's opened, though it is on the node. The caller disposes of it.
 */
export class ImageAccess implements AsyncDisposable {
  readonly #settings: AccessSettings;
  readonly #file: StateFile<PullRecords>;
  readonly #log: Logger;
  #records: PullRecords;
  #generation = 0;
  /** How many pulls of an image are under way, by its name. */
  readonly #pulls = new Map<string, number>();

  private constructor(
    { settings, log }: ImageAccessOptions,
    file: StateFile<PullRecords>,
    records: PullRecords,
  ) {
    this.#settings = settings;
    this.#log = log;
    this.#file = file;
    this.#records = records;
  }

  static async open(options: ImageAccessOptions): Promise<ImageAccess> {
    const { path, clock, log } = options;
    const what = 'which credentials images were pulled with';
    const file = openStateFile({ path, what, parse: parseRecords, clock, log });
    const read = await file.read();
    return new ImageAccess(options, file, read.state === 'value' ? read.value : noRecords);
  }

  /** Whether every pod may use the image that is on the node under that name. */
  isOpen(id: string, name: ImageName): boolean {
    const record = this.#recordOf(id);
    const isPulledByAgent = record !== undefined || this.#records.pulling.includes(name.canonical);
    if (!needsVerification(this.#settings, name.repository, isPulledByAgent)) return true;
    return record?.[name.repository]?.isOpen ?? false;
  }

  /** Whether one of these opened that repository when the image was pulled. */
  isOpenTo(credentials: readonly Credential[], id: string, name: ImageName): boolean {
    const known = this.#recordOf(id)?.[name.repository]?.credentials ?? [];
    return credentials.some((credential) => known.includes(digestOf(credential)));
  }

  /** Before a pull; each is followed by one `ended` or `left`. Resolves when it is on disk, or that failed and is logged. */
  async begun(name: ImageName): Promise<void> {
    const before = this.#pulls.get(name.canonical) ?? 0;
    this.#pulls.set(name.canonical, before + 1);
    if (this.#records.pulling.includes(name.canonical)) return;
    await this.#write({ ...this.#records, pulling: [...this.#records.pulling, name.canonical] });
  }

  /** `pulled`: it went well, with that credential. */
  async ended(name: ImageName, pulled?: { id: string; credential: Credential | undefined }): Promise<void> {
    const isLast = this.left(name);
    const records =
      pulled === undefined
        ? this.#records
        : withPull(this.#records, { ...pulled, repository: name.repository });
    const pulling = isLast ? records.pulling.filter((each) => each !== name.canonical) : records.pulling;
    await this.#write({ ...records, pulling });
  }

  /**
   * Nobody waited for its end: the image may be there or not. It keeps counting as one that is being pulled, so that nobody
   * takes it for one that was there before. Returns whether no other pull of it is under way.
   */
  left(name: ImageName): boolean {
    const others = (this.#pulls.get(name.canonical) ?? 1) - 1;
    if (others > 0) this.#pulls.set(name.canonical, others);
    else this.#pulls.delete(name.canonical);
    return others <= 0;
  }

  /** Counted up by each change: `keepOnly` forgets only what it knew when the images were listed. */
  get generation(): number {
    return this.#generation;
  }

  /** Forgets images that are not among these, which were listed at that generation; later changes make it do nothing. */
  async keepOnly(images: readonly LocalImage[], generation: number): Promise<void> {
    if (generation !== this.#generation) return;
    const ids = new Set(images.map(({ id }) => id));
    const names = new Set(images.flatMap((image) => image.names));
    const { images: known, pulling } = this.#records;
    const kept = Object.entries(known).filter(([id]) => ids.has(id));
    const stillPulling = pulling.filter((name) => this.#pulls.has(name) || names.has(name));
    if (kept.length === Object.keys(known).length && stillPulling.length === pulling.length) return;
    await this.#write({ images: Object.fromEntries(kept), pulling: stillPulling });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file[Symbol.asyncDispose]();
  }

  #recordOf(id: string): PullRecords['images'][string] | undefined {
    return Object.hasOwn(this.#records.images, id) ? this.#records.images[id] : undefined;
  }

  async #write(records: PullRecords): Promise<void> {
    this.#records = records;
    this.#generation += 1;
    try {
      await this.#file.write(records);
    } catch (error) {
      this.#log.warn(
        `with which credentials an image was pulled is not on disk yet: ${describeError(error)}`,
      );
    }
  }
}
