import type { Clock } from '../../../base/index.ts';
import type { DeviceInventory } from '../devices/index.ts';

/** Ids of the devices of every resource. */
export type RegisteredIds = Readonly<Record<string, readonly string[]>>;

export interface RegisteredOptions {
  readonly inventory: DeviceInventory;
  readonly clock: Clock;
  /** Has what take() answers written; what fails is told and tried again elsewhere. */
  readonly write: () => void;
}

/** Of a plugin that lists other devices all the time. */
const spacingMs = 1000;

/** Of all ids together; beyond it the resources with the longest lists are left out, so that others can be kept. */
const limitBytes = 8 * 1024 * 1024;

/**
 * Which devices there were, from one start of the agent to the next: without it a resource whose plugin does not come
 * back would stay on the node for ever, and nobody could tell it from one that others have put there.
 */
export class RegisteredDevices implements Disposable {
  readonly #options: RegisteredOptions;
  readonly #closing = new AbortController();
  readonly #watch: Disposable;
  #isStarted = false;
  #isFollowing = false;
  #mayHaveChanged = false;
  #kept: string | undefined;

  constructor(options: RegisteredOptions) {
    this.#options = options;
    this.#watch = options.inventory.onChange(() => void this.#follow());
  }

  /** `kept` is what has been read; undefined where there was nothing. Before, nothing is written. */
  start(kept: RegisteredIds | undefined): void {
    this.#kept = kept && JSON.stringify(kept);
    this.#isStarted = true;
    void this.#follow();
  }

  /** What there is now, to be written. */
  take(): RegisteredIds {
    const now = registeredOf(this.#options.inventory);
    this.#kept = JSON.stringify(now);
    return now;
  }

  /** What has changed lately is written yet. */
  [Symbol.dispose](): void {
    this.#watch[Symbol.dispose]();
    this.#closing.abort();
    if (this.#isStarted) this.#writeChanged();
  }

  async #follow(): Promise<void> {
    this.#mayHaveChanged = true;
    if (this.#isFollowing || !this.#isStarted) return;
    this.#isFollowing = true;
    while (this.#mayHaveChanged && !this.#closing.signal.aborted) {
      this.#mayHaveChanged = false;
      this.#writeChanged();
      await this.#options.clock.sleep(spacingMs, this.#closing.signal);
    }
    this.#isFollowing = false;
  }

  #writeChanged(): void {
    if (JSON.stringify(registeredOf(this.#options.inventory)) !== this.#kept) this.#options.write();
  }
}

function registeredOf(inventory: DeviceInventory): RegisteredIds {
  const all = [...inventory.resources().values()].map(({ name, devices }) => {
    const ids = [...devices.keys()].sort();
    return { name, ids, bytes: ids.reduce((sum, id) => sum + Buffer.byteLength(id), 0) };
  });
  all.sort((a, b) => a.bytes - b.bytes);
  let bytes = 0;
  const tooMany = all.findIndex((each) => {
    bytes += each.bytes;
    return bytes > limitBytes;
  });
  const kept = tooMany < 0 ? all : all.slice(0, tooMany);
  kept.sort((a, b) => (a.name < b.name ? -1 : 1));
  return Object.fromEntries(kept.map(({ name, ids }) => [name, ids]));
}
